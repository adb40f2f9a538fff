import torch
import torch.nn as nn


class Model(nn.Module):
    """Products of matrices, one for each of a batch."""

    def forward(self, a, b):
        return torch.bmm(a, b)


batch_size = 64
m = 128
k = 256
n = 512


def get_inputs():
    return [torch.rand(batch_size, m, k), torch.rand(batch_size, k, n)]


def get_init_inputs():
    return []
