"""Settings of a search by name: from the command line, a file or Python; wrong ones in one line."""

import pytest

from gevolve.errors import OptionError
from gevolve.run.options import Options, parse_setting, read_settings
from gevolve.search import PRESETS, Settings, make_settings


def made(chosen, preset="default"):
    return make_settings("nsga2", preset, chosen, tolerance=0.1, rounding=0.0)


def test_without_a_choice_the_settings_are_the_presets():
    assert made({}) == Settings(tolerance=0.1)
    assert made({}, "paper") == Settings(**PRESETS["paper"], tolerance=0.1)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("crossover=0.5", 0.5),
        ("crossover = 1", 1.0),
        ("population=16", 16),
        ("adaptive=false", False),
        ("crossover_kind=messy", "messy"),
        ('crossover_kind="messy"', "messy"),
        ("initial_edits=[2, 4]", (2, 4)),
        ("edits=['-swap']", ("-swap",)),
    ],
)
def test_every_setting_can_be_set(text, value):
    name, parsed = parse_setting(text)
    assert getattr(made({name: parsed}), name) == value


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("crossove=1", r"no setting 'crossove'; there are adaptive, .*crossover, "),
        ("tolerance=1", "no setting 'tolerance'"),
        ("crossover=lots", "crossover is 'lots': Expected `float`"),
        ("crossover=7", "crossover is 7.0; it must be from 0 to 1"),
        ("initial_edits=[1]", "initial_edits is .* length 2"),
        ("crossover", "must be NAME=VALUE"),
        ("=1", "must be NAME=VALUE"),
    ],
)
def test_a_wrong_setting_is_one_line(text, message):
    with pytest.raises(OptionError, match=message) as error:
        made(dict([parse_setting(text)]))
    assert "\n" not in str(error.value)


def test_settings_from_a_file(tmp_path):
    file = tmp_path / "s.toml"
    file.write_text('crossover = 0.25\ncrossover_kind = "messy"\n')
    assert made(read_settings(file)) == Settings(
        crossover=0.25, crossover_kind="messy", tolerance=0.1
    )
    file.write_text("crossover is 0.25")
    with pytest.raises(OptionError, match=r"s\.toml is not TOML"):
        read_settings(file)
    with pytest.raises(OptionError, match=r"none.toml: No such file"):
        read_settings(tmp_path / "none.toml")


def test_unknown_options_and_searches_are_one_line():
    with pytest.raises(OptionError, match="no option 'eval'; there are device, evals"):
        Options.of({"eval": 1})
    with pytest.raises(OptionError, match="--search is 'magic'; it must be one of nsga2"):
        make_settings("magic", "default", {}, tolerance=0.0, rounding=0.0)


def test_population_is_a_setting_too():
    assert Options(population=9, settings={"crossover": 0.1}).chosen_settings == {
        "crossover": 0.1, "population": 9,
    }  # fmt: skip
