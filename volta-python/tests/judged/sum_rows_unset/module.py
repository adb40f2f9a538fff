import torch
import torch.nn as nn


class Model(nn.Module):
    """The sum of each row."""

    def forward(self, x):
        return torch.sum(x, dim=1)


batch_size = 128
dim = 4096


def get_inputs():
    return [torch.rand(batch_size, dim)]


def get_init_inputs():
    return []
