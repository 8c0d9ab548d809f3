"""StableHLO programs that abort XLA, never end, ask for too much, or give what no one asked for.

Each maker takes a number and gives another program for each. All take and give four floats, like
`HONEST`, except `other_shape`. What each does was seen with jaxlib 0.10.2 on the CPU; the verdict that
the evaluator gives to each says that it still does (`tests/evaluate/test_model_verdicts.py`).
"""

HONEST = """module @honest {
  func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %r = stablehlo.add %x, %x : tensor<4xf32>
    return %r : tensor<4xf32>
  }
}
"""
MAKERS = {}
"""Each maker by name, with how its programs end: see `ENDINGS`."""
ENDINGS = ("abort", "hang", "memory", "compile", "nan", "shape")


def maker(ending):
    def register(function):
        assert ending in ENDINGS
        MAKERS[function.__name__] = function, ending
        return function

    return register


def _main(body, *, gives="tensor<4xf32>", more=""):
    return (
        "module @hostile {\n"
        f"  func.func public @main(%x: tensor<4xf32>) -> {gives} {{\n"
        "    %zero = stablehlo.constant dense<0.0> : tensor<f32>\n"
        f"{body}\n"
        f"    return %r : {gives}\n"
        "  }\n"
        f"{more}"
        "}\n"
    )


def _sum(value, kind, dimensions):
    return (
        f"    %r = stablehlo.reduce({value} init: %zero) applies stablehlo.add"
        f" across dimensions = {dimensions} : ({kind}, tensor<f32>) -> tensor<4xf32>"
    )


def _spread(kind):
    return f"    %b = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<4xf32>) -> {kind}\n"


@maker("abort")
def overflowing_shape(number):
    """The number of elements does not fit 64 bits: XLA aborts as it computes the product."""
    kind = f"tensor<4x4294967296x{4294967296 + number}xf32>"
    return _main(_spread(kind) + _sum("%b", kind, "[1, 2]"))


@maker("abort")
def overflowing_padding(number):
    """A tensor of 2^62 floats: its bytes do not fit 64 bits, and XLA aborts."""
    kind = f"tensor<{2**62 + number + 4}xf32>"
    return _main(
        f"    %p = stablehlo.pad %x, %zero, low = [{2**62 + number}], high = [0], interior = [0]"
        f" : (tensor<4xf32>, tensor<f32>) -> {kind}\n"
        f"    %r = stablehlo.slice %p [0:4] : ({kind}) -> tensor<4xf32>"
    )


@maker("abort")
def overflowing_product(number):
    """A matrix product of 2^64 elements: XLA follows a bad pointer."""
    rows = 4294967296 + number
    tall, wide, square = (
        f"tensor<{rows}x1xf32>",
        f"tensor<1x{rows}xf32>",
        f"tensor<{rows}x{rows}xf32>",
    )
    return _main(
        f"    %t = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> {tall}\n"
        f"    %w = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> {wide}\n"
        f"    %d = stablehlo.dot_general %t, %w, contracting_dims = [1] x [0]"
        f" : ({tall}, {wide}) -> {square}\n"
        f"    %s = stablehlo.slice %d [0:1, 0:4] : ({square}) -> tensor<1x4xf32>\n"
        "    %r = stablehlo.reshape %s : (tensor<1x4xf32>) -> tensor<4xf32>"
    )


@maker("abort")
def recursion(number):
    """A function that calls itself: XLA inlines it until its stack is full."""
    body = (
        f"    %k = stablehlo.constant dense<{number}.0> : tensor<4xf32>\n"
        "    %s = stablehlo.add %x, %k : tensor<4xf32>\n"
        "    %r = func.call @again(%s) : (tensor<4xf32>) -> tensor<4xf32>\n"
    )
    again = f"  func.func private @again(%x: tensor<4xf32>) -> tensor<4xf32> {{\n{body}    return %r : tensor<4xf32>\n  }}\n"
    return _main(body, more=again)


@maker("hang")
def endless_loop(number):
    """The condition is always true, and the body does something."""
    return _main(
        "    %r = stablehlo.while(%i = %x) : tensor<4xf32>\n"
        "    cond {\n"
        "      %t = stablehlo.constant dense<true> : tensor<i1>\n"
        "      stablehlo.return %t : tensor<i1>\n"
        "    } do {\n"
        f"      %k = stablehlo.constant dense<{number + 1}.0> : tensor<4xf32>\n"
        "      %n = stablehlo.add %i, %k : tensor<4xf32>\n"
        "      stablehlo.return %n : tensor<4xf32>\n"
        "    }"
    )


@maker("hang")
def endless_sum(number):
    """4e12 hyperbolic tangents, fused into a sum: no memory to speak of, but days."""
    kind = f"tensor<4x1000000x{1000000 + number}xf32>"
    return _main(
        _spread(kind) + f"    %i = stablehlo.iota dim = 1 : {kind}\n"
        f"    %m = stablehlo.multiply %i, %b : {kind}\n"
        f"    %t = stablehlo.tanh %m : {kind}\n" + _sum("%t", kind, "[1, 2]")
    )


@maker("hang")
def large_window(number):
    """Each of 4e6 sums of 4e6 constants; with constant folding the compiler would be at it instead."""
    size = 4000 + number
    out = size - 1999
    kind, less = f"tensor<{size}x{size}xf32>", f"tensor<{out}x{out}xf32>"
    return _main(
        f"    %i = stablehlo.iota dim = 0 : {kind}\n"
        '    %w = "stablehlo.reduce_window"(%i, %zero)'
        " <{window_dimensions = array<i64: 2000, 2000>}> ({\n"
        "    ^bb0(%p: tensor<f32>, %q: tensor<f32>):\n"
        "      %l = stablehlo.add %p, %q : tensor<f32>\n"
        "      stablehlo.return %l : tensor<f32>\n"
        f"    }}) : ({kind}, tensor<f32>) -> {less}\n"
        f"    %s = stablehlo.slice %w [0:1, 0:4] : ({less}) -> tensor<1x4xf32>\n"
        "    %r = stablehlo.reshape %s : (tensor<1x4xf32>) -> tensor<4xf32>"
    )


@maker("hang")
def awaited_input(number):
    """Waits for data that no one sends."""
    return _main(
        "    %t = stablehlo.create_token : !stablehlo.token\n"
        f'    %i, %u = "stablehlo.infeed"(%t) <{{infeed_config = "{number}"}}>'
        " : (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)\n"
        "    %r = stablehlo.add %i, %x : tensor<4xf32>"
    )


@maker("hang")
def dilated_convolution(number):
    """2e11 zeros around four floats: the compiler itself takes longer than anyone waits."""
    kind = f"tensor<1x{200_003_000_001 + number}x1xf32>"
    return _main(
        "    %k = stablehlo.constant dense<1.0> : tensor<1x1x1xf32>\n"
        "    %i = stablehlo.reshape %x : (tensor<4xf32>) -> tensor<1x4x1xf32>\n"
        '    %c = "stablehlo.convolution"(%i, %k) <{window_strides = array<i64: 1>, padding ='
        f" dense<[[100000000000, {100_000_000_000 + number}]]> : tensor<1x2xi64>, lhs_dilation ="
        " array<i64: 1000000>, rhs_dilation = array<i64: 1>, dimension_numbers ="
        " #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64,"
        " batch_group_count = 1 : i64}>"
        f" : (tensor<1x4x1xf32>, tensor<1x1x1xf32>) -> {kind}\n"
        f"    %s = stablehlo.slice %c [0:1, 0:4, 0:1] : ({kind}) -> tensor<1x4x1xf32>\n"
        "    %r = stablehlo.reshape %s : (tensor<1x4x1xf32>) -> tensor<4xf32>"
    )


def _sorted(number, comparison):
    kind = f"tensor<{100000 + number}xf32>"
    return _main(
        f"    %i = stablehlo.iota dim = 0 : {kind}\n"
        '    %s = "stablehlo.sort"(%i) <{dimension = 0 : i64}> ({\n'
        "    ^bb0(%p: tensor<f32>, %q: tensor<f32>):\n"
        f"      {comparison}\n"
        "      stablehlo.return %l : tensor<i1>\n"
        f"    }}) : ({kind}) -> {kind}\n"
        f"    %r = stablehlo.slice %s [0:4] : ({kind}) -> tensor<4xf32>"
    )


@maker("hang")
def sort_always_less(number):
    """A comparator for which each is less than the other: the sort does not come to an end."""
    return _sorted(number, "%l = stablehlo.constant dense<true> : tensor<i1>")


@maker("abort")
def sort_unequal(number):
    """A comparator that says "less" of all that differ: the sort runs out of its buffer."""
    less = "%l = stablehlo.compare NE, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>"
    return _sorted(number, less)


@maker("memory")
def giant_tensor(number):
    """Sorts 400 GB."""
    kind = f"tensor<4x{25_000_000_000 + number}xf32>"
    return _main(
        _spread(kind) + '    %s = "stablehlo.sort"(%b) <{dimension = 1 : i64}> ({\n'
        "    ^bb0(%p: tensor<f32>, %q: tensor<f32>):\n"
        "      %l = stablehlo.compare LT, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"
        "      stablehlo.return %l : tensor<i1>\n"
        f"    }}) : ({kind}) -> {kind}\n"
        f"    %f = stablehlo.slice %s [0:4, 0:1] : ({kind}) -> tensor<4x1xf32>\n"
        "    %r = stablehlo.reshape %f : (tensor<4x1xf32>) -> tensor<4xf32>"
    )


@maker("compile")
def unknown_call(number):
    """A custom call to what is not there."""
    return _main(
        f"    %r = stablehlo.custom_call @nothing_{number}(%x) : (tensor<4xf32>) -> tensor<4xf32>"
    )


@maker("compile")
def awaited_message(number):
    """Receives from the host, which XLA does not do on the CPU."""
    return _main(
        "    %t = stablehlo.create_token : !stablehlo.token\n"
        '    %r, %u = "stablehlo.recv"(%t) <{channel_handle = #stablehlo.channel_handle<handle ='
        f" {number + 1}, type = 3>, is_host_transfer = true}}>"
        " : (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)"
    )


@maker("nan")
def not_a_number(number):
    """Zero over zero."""
    return _main(
        f"    %k = stablehlo.constant dense<{number}.0> : tensor<4xf32>\n"
        "    %m = stablehlo.multiply %x, %k : tensor<4xf32>\n"
        "    %z = stablehlo.subtract %m, %m : tensor<4xf32>\n"
        "    %r = stablehlo.divide %z, %z : tensor<4xf32>"
    )


@maker("shape")
def other_shape(number):
    """Gives more floats than four."""
    kind = f"tensor<{5 + number}xf32>"
    return _main(
        f"    %r = stablehlo.pad %x, %zero, low = [0], high = [{1 + number}], interior = [0]"
        f" : (tensor<4xf32>, tensor<f32>) -> {kind}",
        gives=kind,
    )


def programs(count):
    """So many hostile programs, no two alike: (maker's name, text, ending), every maker in turn."""
    names = list(MAKERS)
    for number in range(count):
        name = names[number % len(names)]
        function, ending = MAKERS[name]
        yield name, function(number // len(names)), ending
