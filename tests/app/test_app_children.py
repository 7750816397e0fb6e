"""A child process that fails says so in one line."""

import multiprocessing

from periplus.app.children import _child
from periplus.errors import StorageFull


def fail(stopping):
    raise StorageFull("no space left for state.db; free some and start again")


def test_an_error_of_ours_is_one_line_and_no_traceback(capfd):
    process = multiprocessing.get_context("spawn").Process(target=_child, args=("child", fail, ()))
    process.start()
    process.join(60)

    assert process.exitcode == 1
    said = capfd.readouterr().err
    assert said.strip() == "periplus: no space left for state.db; free some and start again"
