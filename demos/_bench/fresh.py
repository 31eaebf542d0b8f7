"""The program of a spawned rank: `python -m _bench.fresh DESCRIPTOR`."""

import json
import os
import sys
from pathlib import Path

from . import body, early, guard, launch, load


def main() -> None:
    """Take the order, become that rank."""
    order = int(sys.argv[1])
    told = json.loads(os.pread(order, os.fstat(order).st_size, 0))
    os.close(order)
    os.environ["GLOO_SOCKET_IFNAME"] = "lo" if sys.platform == "linux" else "lo0"
    link, task = body.Link(**told["link"]), body.Task(**told["task"])
    parent = told["parent"]
    if task.own_launch and sys.platform == "linux":
        parent = guard.stand(link)
    release = body.settle_in(link, parent)
    early.quiet_import()
    early.torch_version()
    path = Path(task.path)
    sys.path.insert(0, str(path.parent))
    store = launch.store_at(told["store"], task.ranks)
    code = load.compiled(path, task.text)
    body.serve_rank(task, told["number"], store, link, release, code)


if __name__ == "__main__":
    main()
