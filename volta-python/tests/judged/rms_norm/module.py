import torch
import torch.nn as nn


class Model(nn.Module):
    """Features over the root of their mean square."""

    def __init__(self, num_features, eps=1e-5):
        super().__init__()
        self.eps = eps

    def forward(self, x):
        root = torch.sqrt(torch.mean(x ** 2, dim=1, keepdim=True) + self.eps)
        return x / root


batch_size = 16
features = 64
height = 256
width = 256


def get_inputs():
    return [torch.rand(batch_size, features, height, width)]


def get_init_inputs():
    return [features]
