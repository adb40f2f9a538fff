import torch
import torch.nn as nn


class Model(nn.Module):
    """A product with the second factor transposed."""

    def forward(self, a, b):
        return torch.matmul(a, b.T)


M = 512
K = 4096
N = 256


def get_inputs():
    return [torch.rand(M, K), torch.rand(N, K)]


def get_init_inputs():
    return []
