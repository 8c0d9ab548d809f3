"""Kernels are known by what they compute, whatever IREE calls them."""

from gevolve.device.iree.compiler import _frames, named_by_content

DISPATCH = """\
  hal.executable private @NAME {
    hal.executable.variant public @cuda_nvptx_fb target(<"cuda", "cuda-nvptx-fb">) {
      hal.executable.export public @NAME_matmul_8x4_f32 ordinal(0) count(%arg0: !hal.device) {
        hal.return %x, %y, %z : index, index, index
      }
      builtin.module {
        func.func @NAME_matmul_8x4_f32() {
          %c = arith.constant VALUE : index
        }
      }
    }
  }
"""


def module(**dispatches):
    blocks = [
        DISPATCH.replace("NAME", name).replace("VALUE", value) for name, value in dispatches.items()
    ]
    calls = [
        f"    stream.cmd.dispatch @{name}::@cuda_nvptx_fb::@{name}_matmul_8x4_f32 {{\n"
        for name in dispatches
    ]
    return "module {\n" + "".join([*blocks, *calls]) + "}\n"


def test_the_same_dispatch_has_the_same_name_wherever_it_is():
    one, names = named_by_content(module(main_dispatch_1="3", main_dispatch_10="4"))
    other, (kernel,) = named_by_content(module(main_dispatch_7="4"))
    assert len(names) == 2
    assert names[1] == kernel
    assert kernel.startswith("matmul_8x4_f32_")
    assert "main_dispatch" not in one + other
    assert f"@{kernel}::@cuda_nvptx_fb::@{kernel} {{" in one


def test_dispatches_that_are_the_same_become_one():
    text, (kernel,) = named_by_content(module(main_dispatch_1="3", main_dispatch_2="3"))
    assert text.count("hal.executable private") == 1
    assert text.count(f"stream.cmd.dispatch @{kernel}::@cuda_nvptx_fb::@{kernel} ") == 2


def test_a_dispatch_may_have_the_name_of_its_kernel():
    text, (kernel,) = named_by_content(
        module(__builtin_fill_i64="3").replace("_matmul_8x4_f32", "")
    )
    assert kernel.startswith("kernel_")
    assert f"@{kernel}::@cuda_nvptx_fb::@{kernel} {{" in text


def test_a_frame_has_an_object_and_no_code():
    text, names = named_by_content(module(main_dispatch_1="3"))
    (frame,) = _frames(text).values()
    assert list(_frames(text)) == names
    assert "builtin.module" not in frame
    assert 'objects([#hal.executable.object<{path = "OBJECT"}>]) {' in frame
    assert "hal.return %x" in frame


def test_where_iree_happens_to_place_a_tensor_is_no_part_of_a_kernel():
    text = module(main_dispatch_1="3").replace(
        "%c = arith",
        "%t = hal.interface.binding.subspan alignment(ALIGNED) : x\n          %c = arith",
    )
    near, far, odd = (
        named_by_content(text.replace("ALIGNED", size)) for size in ("64", "16384", "4")
    )
    assert near == far
    assert near[1] != odd[1]
    assert "alignment(4)" in odd[0]
