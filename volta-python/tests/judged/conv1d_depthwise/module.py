import torch
import torch.nn as nn


class Model(nn.Module):
    """A dilated convolution of each channel."""

    def __init__(self, channels, kernel_size, dilation):
        super().__init__()
        self.conv = nn.Conv1d(channels, channels, kernel_size, dilation=dilation, groups=channels)

    def forward(self, x):
        return self.conv(x)


batch_size = 16
channels = 64
length = 512
kernel_size = 3
dilation = 2


def get_inputs():
    return [torch.rand(batch_size, channels, length)]


def get_init_inputs():
    return [channels, kernel_size, dilation]
