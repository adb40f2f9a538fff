import torch
import torch.nn as nn


class Model(nn.Module):
    """A normalisation of groups of channels."""

    def __init__(self, features, num_groups):
        super().__init__()
        self.norm = nn.GroupNorm(num_groups, features)

    def forward(self, x):
        return self.norm(x)


batch_size = 16
features = 64
num_groups = 8
dim1 = 32
dim2 = 32


def get_inputs():
    return [torch.rand(batch_size, features, dim1, dim2)]


def get_init_inputs():
    return [features, num_groups]
