"""The program of a spawned rank: `python -m _bench.fresh DESCRIPTOR`."""

import json
import os
import sys
from pathlib import Path

from . import body, early, launch, load


def main() -> None:
    """Take the order, become that rank."""
    order = int(sys.argv[1])
    told = json.loads(os.pread(order, os.fstat(order).st_size, 0))
    os.close(order)
    os.environ["GLOO_SOCKET_IFNAME"] = "lo" if sys.platform == "linux" else "lo0"
    link = body.Link(**told["link"])
    release = body.settle_in(link, told["parent"])
    early.quiet_import()
    early.torch_version()
    task = body.Task(**told["task"])
    path = Path(task.path)
    sys.path.insert(0, str(path.parent))
    store = launch.store_at(told["store"], task.ranks)
    code = load.compiled(path, task.text)
    body.serve_rank(task, told["number"], store, link, release, code)


if __name__ == "__main__":
    main()
