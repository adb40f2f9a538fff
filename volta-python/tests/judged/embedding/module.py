import torch
import torch.nn as nn


class Model(nn.Module):
    """Rows of a table."""

    def __init__(self, rows, width):
        super().__init__()
        self.table = nn.Embedding(rows, width)

    def forward(self, indices):
        return self.table(indices)


batch_size = 64
length = 128
rows = 1000
width = 256


def get_inputs():
    return [torch.randint(0, rows, (batch_size, length))]


def get_init_inputs():
    return [rows, width]
