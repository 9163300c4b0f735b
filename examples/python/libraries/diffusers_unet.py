"""Removes noise by a small U-Net of diffusers: the network is compiled, the scheduler is not.

    pip install diffusers && python examples/python/libraries/diffusers_unet.py
"""
import torch
from diffusers import DDIMScheduler, UNet2DModel

torch.manual_seed(0)
unet = UNet2DModel(sample_size=16, in_channels=3, out_channels=3, layers_per_block=1,
                   block_out_channels=(16, 32), norm_num_groups=8, attention_head_dim=8,
                   down_block_types=("DownBlock2D", "AttnDownBlock2D"),
                   up_block_types=("AttnUpBlock2D", "UpBlock2D")).eval()
noise = torch.randn(1, 3, 16, 16)


@torch.no_grad()
def sample():
    scheduler, image = DDIMScheduler(), noise
    scheduler.set_timesteps(3)
    for step in scheduler.timesteps:
        image = scheduler.step(unet(image, step).sample, step, image).prev_sample
    return image


wanted = sample()
unet.compile(backend="nereid")
error = (sample() - wanted).abs().max().item()
print(f"largest error {error:.1e}")
assert error < 1e-3
