import torch
import torch.nn as nn


class Model(nn.Module):
    """The positive part."""

    def forward(self, x):
        return torch.relu(x)


batch_size = 16
dim = 16384


def get_inputs():
    return [torch.randn(batch_size, dim)]


def get_init_inputs():
    return []
