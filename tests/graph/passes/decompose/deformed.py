# Groups that do not divide the channels.
class G(torch.nn.Module):
    def forward(self, x: "f32[1, 6, 5, 5]", w: "f32[4, 6, 1, 1]", o: "f32[1, 8, 5, 5]", b: "f32[4]"):
        y = torch.ops.torchvision.deform_conv2d.default(x, w, o, o, b, 1, 1, 0, 0, 1, 1, 1, 4, False)
        return (y,)
