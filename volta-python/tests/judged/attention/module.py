import torch
import torch.nn as nn


class Model(nn.Module):
    """Attention of queries to keys."""

    def forward(self, q, k, v):
        return torch.nn.functional.scaled_dot_product_attention(q, k, v)


batch_size = 8
num_heads = 12
sequence_length = 256
head_dim = 64


def get_inputs():
    return [torch.rand(batch_size, num_heads, sequence_length, head_dim), torch.rand(batch_size, num_heads, sequence_length, head_dim), torch.rand(batch_size, num_heads, sequence_length, head_dim)]


def get_init_inputs():
    return []
