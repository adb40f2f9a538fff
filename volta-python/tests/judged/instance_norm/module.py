import torch
import torch.nn as nn


class Model(nn.Module):
    """A normalisation of each plane."""

    def __init__(self, features):
        super().__init__()
        self.norm = nn.InstanceNorm2d(features)

    def forward(self, x):
        return self.norm(x)


batch_size = 16
features = 64
height = 128
width = 128


def get_inputs():
    return [torch.rand(batch_size, features, height, width)]


def get_init_inputs():
    return [features]
