"""What a patch changes in a text, and which edit did it."""

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from gevolve.patch import Patch
from gevolve.program import Variant
from gevolve.report.html.diff import bare, changes, side_by_side
from gevolve.workload.locate import locate

TEXT = (
    "module {\n" + "".join(f'  %{n} = "op"(%{n - 1}) loc(#loc{n})\n' for n in range(1, 30)) + "}\n"
)


@dataclass
class Lines:
    """A program in no IR at all: edits delete or replace lines."""

    text: str = TEXT

    def apply(self, patch):
        lines = dict(enumerate(self.text.splitlines()))
        for edit in patch:
            line = int(edit.args[0])
            if edit.kind == "delete":
                lines.pop(line, None)
            else:
                lines[line] = edit.args[1]
        return Variant(patch, "\n".join(lines[n] for n in sorted(lines)) + "\n")


def rows_of(found):
    return [row for hunk in found["hunks"] for row in hunk if row[4] is not None]


def test_each_changed_line_names_its_edit():
    patch = Patch.parse("delete 3 #1; change 20 new #2; change 20 newer #3; delete 27 #4")
    found = side_by_side(Lines(), patch)
    assert rows_of(found) == [
        [4, '  %3 = "op"(%2)', None, None, [0]],
        [21, '  %20 = "op"(%19)', 20, "newer", [1, 2]],
        [28, '  %27 = "op"(%26)', None, None, [3]],
    ]
    assert len(found["hunks"]) == 2
    assert (found["changed"], found["lines"]) == (3, 31)


def test_no_change_has_no_hunks():
    assert side_by_side(Lines(), Patch())["hunks"] == []


def test_what_is_for_debuggers_is_left_out():
    text = "  %i1 = add i32 %a, 1, !dbg !16\n  store i32 %i1, ptr %p, align 4, !dbg !27, !tbaa !8"
    assert bare(text) == ["  %i1 = add i32 %a, 1", "  store i32 %i1, ptr %p, align 4"]


def test_a_long_patch_is_not_traced_edit_by_edit():
    patch = Patch.parse("; ".join(f"change {1 + n % 20} line{n} #{n:x}" for n in range(100)))
    found = rows_of(side_by_side(Lines(), patch))
    assert len(found) == 20
    assert all(row[4] == [] for row in found)


def test_a_kernel():
    program = locate("tuned/pathfinder").load()
    found = rows_of(side_by_side(program, Patch.parse("delete i18 #1")))
    assert [row[4] for row in found] == [[0]]
    assert "barrier" in found[0][1]


@given(st.lists(st.sampled_from("abc")), st.lists(st.sampled_from("abc")))
def test_changes_lead_from_one_text_to_the_other(before, after):
    built = []
    for tag, a, b, c, d in changes(before, after):
        built += before[a:b] if tag == "equal" else after[c:d]
        assert tag != "equal" or before[a:b] == after[c:d]
    assert built == after
