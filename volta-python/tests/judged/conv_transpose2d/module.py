import torch
import torch.nn as nn


class Model(nn.Module):
    """A transposed convolution."""

    def __init__(self, in_channels, out_channels, kernel_size, stride, padding):
        super().__init__()
        self.conv = nn.ConvTranspose2d(in_channels, out_channels, kernel_size, stride=stride, padding=padding)

    def forward(self, x):
        return self.conv(x)


batch_size = 8
in_channels = 32
out_channels = 16
kernel_size = 3
stride = 2
padding = 1
height = 64
width = 64


def get_inputs():
    return [torch.rand(batch_size, in_channels, height, width)]


def get_init_inputs():
    return [in_channels, out_channels, kernel_size, stride, padding]
