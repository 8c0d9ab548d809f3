"""The error codes of the CUDA driver (`CUresult`) that programs meet, as NVIDIA documents them."""

from enum import IntEnum


class Code(IntEnum):
    """What a function of the driver returns."""

    SUCCESS = 0
    INVALID_VALUE = 1
    OUT_OF_MEMORY = 2
    NOT_INITIALIZED = 3
    DEINITIALIZED = 4
    PROFILER_DISABLED = 5
    STUB_LIBRARY = 34
    NO_DEVICE = 100
    INVALID_DEVICE = 101
    INVALID_IMAGE = 200
    INVALID_CONTEXT = 201
    MAP_FAILED = 205
    UNMAP_FAILED = 206
    ALREADY_MAPPED = 208
    NO_BINARY_FOR_GPU = 209
    NOT_MAPPED = 211
    UNSUPPORTED_LIMIT = 215
    CONTEXT_ALREADY_IN_USE = 216
    PEER_ACCESS_UNSUPPORTED = 217
    INVALID_PTX = 218
    JIT_COMPILER_NOT_FOUND = 221
    UNSUPPORTED_PTX_VERSION = 222
    INVALID_SOURCE = 300
    FILE_NOT_FOUND = 301
    SHARED_OBJECT_SYMBOL_NOT_FOUND = 302
    SHARED_OBJECT_INIT_FAILED = 303
    OPERATING_SYSTEM = 304
    INVALID_HANDLE = 400
    ILLEGAL_STATE = 401
    NOT_FOUND = 500
    NOT_READY = 600
    ILLEGAL_ADDRESS = 700
    LAUNCH_OUT_OF_RESOURCES = 701
    LAUNCH_TIMEOUT = 702
    LAUNCH_INCOMPATIBLE_TEXTURING = 703
    PEER_ACCESS_ALREADY_ENABLED = 704
    PEER_ACCESS_NOT_ENABLED = 705
    PRIMARY_CONTEXT_ACTIVE = 708
    CONTEXT_IS_DESTROYED = 709
    ASSERT = 710
    HOST_MEMORY_ALREADY_REGISTERED = 712
    HOST_MEMORY_NOT_REGISTERED = 713
    HARDWARE_STACK_ERROR = 714
    ILLEGAL_INSTRUCTION = 715
    MISALIGNED_ADDRESS = 716
    INVALID_ADDRESS_SPACE = 717
    INVALID_PC = 718
    LAUNCH_FAILED = 719
    COOPERATIVE_LAUNCH_TOO_LARGE = 720
    NOT_PERMITTED = 800
    NOT_SUPPORTED = 801
    SYSTEM_NOT_READY = 802
    STREAM_CAPTURE_UNSUPPORTED = 900
    STREAM_CAPTURE_INVALIDATED = 901
    STREAM_CAPTURE_MERGE = 902
    STREAM_CAPTURE_UNMATCHED = 903
    STREAM_CAPTURE_UNJOINED = 904
    STREAM_CAPTURE_ISOLATION = 905
    STREAM_CAPTURE_IMPLICIT = 906
    CAPTURED_EVENT = 907
    STREAM_CAPTURE_WRONG_THREAD = 908
    TIMEOUT = 909
    GRAPH_EXEC_UPDATE_FAILURE = 910
    UNKNOWN = 999

    @property
    def title(self) -> str:
        """Its name in NVIDIA's header."""
        return "CUDA_SUCCESS" if self is Code.SUCCESS else f"CUDA_ERROR_{self.name}"

    @property
    def words(self) -> str:
        """What it means."""
        return _WORDS.get(self, self.name.lower().replace("_", " "))


_WORDS = {
    Code.SUCCESS: "no error",
    Code.INVALID_VALUE: "invalid argument",
    Code.NOT_INITIALIZED: "initialization error",
    Code.NO_DEVICE: "no CUDA-capable device is detected",
    Code.INVALID_DEVICE: "invalid device ordinal",
    Code.INVALID_IMAGE: "device kernel image is invalid",
    Code.INVALID_CONTEXT: "invalid device context",
    Code.NO_BINARY_FOR_GPU: "no kernel image is available for execution on the device",
    Code.INVALID_PTX: "a PTX JIT compilation failed",
    Code.INVALID_HANDLE: "invalid resource handle",
    Code.NOT_FOUND: "named symbol not found",
    Code.NOT_READY: "device not ready",
    Code.ILLEGAL_ADDRESS: "an illegal memory access was encountered",
    Code.LAUNCH_OUT_OF_RESOURCES: "too many resources requested for launch",
    Code.LAUNCH_TIMEOUT: "the launch timed out and was terminated",
    Code.ASSERT: "device-side assert triggered",
    Code.HARDWARE_STACK_ERROR: "hardware stack error",
    Code.ILLEGAL_INSTRUCTION: "an illegal instruction was encountered",
    Code.MISALIGNED_ADDRESS: "misaligned address",
    Code.LAUNCH_FAILED: "unspecified launch failure",
    Code.NOT_SUPPORTED: "operation not supported",
    Code.UNKNOWN: "unknown error",
}


class Fault(Exception):  # noqa: N818  (it is what the program is told, and no mistake of ours)
    """A call cannot be done; the program gets this code."""

    def __init__(self, code: Code) -> None:
        super().__init__(code.title)
        self.code = code
