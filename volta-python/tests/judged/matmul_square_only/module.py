import torch
import torch.nn as nn


class Model(nn.Module):
    """A product of matrices."""

    def forward(self, a, b):
        return a @ b


M = 1024
K = 1024
N = 1024


def get_inputs():
    return [torch.rand(M, K), torch.rand(K, N)]


def get_init_inputs():
    return []
