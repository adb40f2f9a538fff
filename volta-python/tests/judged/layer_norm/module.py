import torch
import torch.nn as nn


class Model(nn.Module):
    """A normalisation of each row."""

    def __init__(self, features):
        super().__init__()
        self.norm = nn.LayerNorm(features)

    def forward(self, x):
        return self.norm(x)


batch_size = 128
sequence = 64
features = 768


def get_inputs():
    return [torch.rand(batch_size, sequence, features)]


def get_init_inputs():
    return [features]
