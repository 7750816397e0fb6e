"""Runs one verb and turns every error into one line and an exit code: 0 done, 1 failed, 2 wrong use."""

from __future__ import annotations

import atexit
import os
import sys
import threading
import traceback
from io import TextIOWrapper
from typing import TYPE_CHECKING, NoReturn

from typer.exceptions import Abort, TyperException

from periplus import log_lines
from periplus.cli.harmless import harmless
from periplus.cli.verbs import application
from periplus.errors import FetchError, ParseError, PeriplusError, SettingError
from periplus.reasons import in_words

if TYPE_CHECKING:
    from collections.abc import Sequence

FAILED = 1
WRONG_USE = 2
INTERRUPTED = 130  # what typer makes of Ctrl-C
STOPPED = "stopped"


def main(arguments: Sequence[str] | None = None) -> None:
    """Entry point of the ``periplus`` command."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # not every terminal can show every page
    debug = "--debug" in words
    log_lines.begin(next((word for word in words if not word.startswith("-")), "periplus"))
    _leave(run([word for word in words if word != "--debug"], debug=debug))


def _leave(code: int) -> NoReturn:
    """End the process, and threads that gather words for later searches with it.

    An interpreter that ends takes them down wherever they are; in the middle of foreign code that aborts the process,
    now and then.
    """
    others = [thread for thread in threading.enumerate() if thread is not threading.current_thread()]
    if not others or not all(thread.daemon for thread in others):
        sys.exit(code)
    atexit._run_exitfuncs()  # noqa: SLF001 - what would run at any end; there is no other way to ask for it
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:  # it is when there was none to begin with
                stream.flush()
        except (OSError, ValueError):  # whoever read our output went away
            code = code or FAILED
    os._exit(code)


def run(words: list[str], *, debug: bool = False) -> int:
    """Run ``periplus WORDS`` and give its exit code."""
    try:
        _check_log_format()
        words = words or ["--help"]
        code = application(words)(words, prog_name="periplus", standalone_mode=False)
    except PeriplusError as error:
        return _complain(_words(error), error.exit_code, debug=debug, event=error.code)
    except TyperException as error:
        return _complain(_lower_first(error.format_message()), WRONG_USE, debug=debug)
    except (KeyboardInterrupt, Abort):
        return _complain(STOPPED, FAILED, debug=False)
    except BrokenPipeError:
        # The reader of our output went away (`periplus status | head -1`): nothing is left to say to it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except OSError as error:
        return _complain(_os_message(error), FAILED, debug=debug)
    except MemoryError as error:
        return _complain(_memory_message(error), FAILED, debug=debug)
    except Exception as error:  # noqa: BLE001 - the last resort: a bug must still end in one line
        message = f"this should not have happened: {type(error).__name__}: {error}; --debug shows where"
        return _complain(message, FAILED, debug=debug)
    if code == INTERRUPTED:
        return _complain(STOPPED, FAILED, debug=False)
    return code if isinstance(code, int) else 0


def _check_log_format() -> None:
    if not log_lines.is_known_format():
        wrong = os.environ[log_lines.VARIABLE]
        raise SettingError(f"{log_lines.VARIABLE}={wrong} names no format; use {' or '.join(log_lines.FORMATS)}")


def _complain(message: str, code: int, *, debug: bool, event: str = "") -> int:
    if debug:
        traceback.print_exc()
    line = harmless(" ".join(message.split()))
    hint = "; see periplus --help" if code == WRONG_USE and "--help" not in line else ""
    fields = {"event": event} if event else {}
    log_lines.say(line + hint, "info" if message == STOPPED else "error", exit=code, **fields)
    return code


def _words(error: PeriplusError) -> str:
    """What is wrong and what to do; a reason code is shown with its sentence."""
    return in_words(error.reason, error.detail) if isinstance(error, FetchError | ParseError) else str(error)


def _lower_first(message: str) -> str:
    message = message.rstrip(".")
    return message[:1].lower() + message[1:]


def _memory_message(error: MemoryError) -> str:
    why = f" ({_lower_first(str(error))})" if str(error) else ""
    return f"there is not enough memory for this{why}; ask for less at once, or use a machine with more"


def _os_message(error: OSError) -> str:
    what = error.strerror or str(error)
    return f"{error.filename}: {what.lower()}" if error.filename else what.lower()
