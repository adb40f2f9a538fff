import torch
import torch.nn as nn


class Model(nn.Module):
    """A product of matrices."""

    def forward(self, a, b):
        return torch.matmul(a, b)


M = 1024
K = 4096
N = 2048


def get_inputs():
    return [torch.rand(M, K), torch.rand(K, N)]


def get_init_inputs():
    return []
