"""Stands between the bench and a demo that starts processes itself, and ends all of them."""

import os
import select
import signal

from . import body, interrupt


def stand(link: body.Link) -> int:
    """In a forked child: go on in a child of it, and stay behind to watch over its offspring.

    When the bench goes (its pipe closes), or main ends, whatever main started goes too, also
    what has made itself a session of its own. Gives the id of the guard.
    """
    guard = os.getpid()
    interrupt.adopt_strays()
    if (pid := os.fork()) == 0:
        return guard
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    watched = os.pidfd_open(pid)
    select.select([watched, link.control], [], [])
    by_itself = bool(select.select([watched], [], [], 0)[0])
    status = os.waitpid(pid, 0)[1] if by_itself else 0
    interrupt.end_all()
    if by_itself:
        link.tell({"kind": "gone", "status": os.waitstatus_to_exitcode(status)})
    os._exit(0)
