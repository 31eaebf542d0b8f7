"""A KV cache changes no output: each token is projected once, and its keys and values are kept.

The trick
    Under a causal mask a later token changes nothing for an earlier one, so keys and values can
    stay as they were computed; only the newest query is needed. The price is memory: for a token
    and a layer 2 * kv_heads * head_dim numbers. Fewer heads of keys and values than of queries
    (GQA; one in MQA) pay less. MLA keeps a latent that all heads share and one RoPE key. Its heads
    can be rebuilt from the latents in every step (plain), or the projections that would do it
    moved over to the query and the output (absorbed): then it is MQA with one long head.
    Tensor parallelism shares out query heads. A rank keeps the key heads that its queries look
    at, so once there are fewer than ranks they are kept several times; a latent always is.
    The prompt goes through at once, then token follows token.

Watch
    bytes_mha (bytes, forward)            a rank's bf16 cache at the end, all layers, a key head a
        query head
    bytes_gqa (bytes, forward)            a rank's bf16 cache at the end, all layers, with
        --kv-heads
    bytes_mqa (bytes, forward)            a rank's bf16 cache at the end, all layers, with one key
        head
    bytes_mla (bytes, forward)            a rank's bf16 cache at the end, all layers, latent and
        RoPE key
    token_bytes_mha (bytes, forward)      of a token on a rank, one layer, bf16, if each query head
        has a key head
    token_bytes_gqa (bytes, forward)      of a token on a rank, one layer, bf16, with key heads from
        --kv-heads
    token_bytes_mqa (bytes, forward)      of a token on a rank, one layer, bf16, with one key head
    token_bytes_mla (bytes, forward)      of a token on a rank, one layer, bf16, latent and RoPE key
    heads_kept_gqa (count, forward)       key heads in a rank's cache; over all ranks they may
        exceed kv_heads
    projected_cached (tokens, forward)    of one sequence and layer whose keys and values were
        computed
    projected_uncached (tokens, forward)  of one sequence and layer whose keys and values were
        computed if no step keeps any
    expanded_plain (tokens, forward)      of one sequence and layer rebuilt from latents, plain MLA
    expanded_absorbed (tokens, forward)   of one sequence and layer rebuilt from latents, absorbed
        MLA
    prefill_error (shared, difference)    of the prompt's outputs from the whole sequence in one
        process, fp64, all kinds
    decode_error (shared, difference)     of outputs from the whole sequence in one process, fp64,
        all kinds, largest

Run
    quizkit demo kv-cache --gpus 4
    python demos/kv_cache.py --ranks 4 --kv-heads 8 --prompt 1
    torchrun --nproc-per-node 4 demos/kv_cache.py
"""

from _bench import Break, Metrics, check, compared, counted, refuse, run, shared
from _bench import all_reduce, device, everyone, max_error, rank, ranks

import torch
from torch.nn.functional import scaled_dot_product_attention

TOPIC = "attention"


def grouped(x, w, cache, first):
    """MHA, GQA and MQA: several query heads look at one head of keys and values."""
    share, group = len(w["q"]) // ranks(), len(w["q"]) // len(w["k"])
    mine = range(rank() * share, (rank() + 1) * share)
    kv = range(mine[0] // group, mine[-1] // group + 1)
    q = rope(project(x, my_heads(w["q"])), first)
    k = rope(project(x, w["k"][kv.start : kv.stop]), first)
    k, v = cache.append(k, project(x, w["v"][kv.start : kv.stop]))
    # Neighbours share: head 0, 0, 0, 1, 1, 1 and not 0, 1, 0, 1, 0, 1.
    looks_at = [head // group - kv.start for head in mine]
    return attend(q, k[:, :, looks_at], v[:, :, looks_at], q.shape[-1] ** -0.5)


def absorbed(x, w, cache, first):
    """MLA as it is run: one head of keys, the latents themselves, serves all query heads."""
    latent, key = cache.append(*latent_and_key(x, w, first))
    q, turned = project(x, my_heads(w["q"])), rope(project(x, my_heads(w["qr"])), first)
    scale = (q.shape[-1] + turned.shape[-1]) ** -0.5  # of the head that is no longer there
    q = torch.cat([torch.einsum("bthd,hdl->bthl", q, my_heads(w["k"])), turned], -1)
    one = torch.cat([latent, key], -1)[:, :, None].expand(-1, -1, q.shape[2], -1)
    mixed = attend(q, one, one[..., : latent.shape[-1]], scale)
    return torch.einsum("bthl,hdl->bthd", mixed, my_heads(w["v"]))


def plain(x, w, cache, first):
    """MLA as it is written down: rebuild the keys and values of all tokens, head by head."""
    latent, key = cache.append(*latent_and_key(x, w, first))
    cache.expanded += latent.shape[1]
    k, v = (torch.einsum("btl,hdl->bthd", latent, my_heads(w[name])) for name in ("k", "v"))
    key = key[:, :, None].expand(-1, -1, k.shape[2], -1)
    q = torch.cat([project(x, my_heads(w["q"])), rope(project(x, my_heads(w["qr"])), first)], -1)
    return attend(q, torch.cat([k, key], -1), v, q.shape[-1] ** -0.5)


def latent_and_key(x, w, first):
    """All that MLA keeps of a token. The key is turned before it is kept, as it has no head."""
    return x @ w["down"].T, rope((x @ w["kr"].T)[:, :, None], first)[:, :, 0]


class Cache:
    """What one layer keeps of the tokens so far."""

    def __init__(self):
        self.parts, self.projected, self.expanded = [], 0, 0

    @property
    def length(self):
        """How many tokens are in it."""
        return self.parts[0].shape[1] if self.parts else 0

    @property
    def nbytes(self):
        """Bytes of the tensors that are kept."""
        return sum(part.numel() * part.element_size() for part in self.parts)

    def append(self, *new):
        """Keep what new tokens bring, and give back all: a token sees itself too."""
        before = self.parts or [part[:, :0] for part in new]
        self.parts = [torch.cat(pair, 1) for pair in zip(before, new, strict=True)]
        self.projected += new[0].shape[1]
        return self.parts


def attend(q, k, v, scale):
    """The last queries over all keys: the newest sees every key, the one before all but one."""
    scores = torch.einsum("bthd,bshd->bhts", q, k) * scale
    visible = torch.ones(scores.shape[-2:], dtype=torch.bool, device=q.device)
    visible = visible.tril(k.shape[1] - q.shape[1])
    weights = scores.masked_fill(~visible, -torch.inf).softmax(-1)
    return torch.einsum("bhts,bshd->bthd", weights, v)


def rope(x, first):
    """Turn every pair of numbers by its token's position, counted from `first`."""
    half = x.shape[-1] // 2
    position = torch.arange(first, first + x.shape[1], dtype=torch.float64, device=x.device)
    speed = 1e4 ** -(torch.arange(half, dtype=torch.float64, device=x.device) / half)
    angle = (position[:, None] * speed)[:, None]  # the same for all heads
    cos, sin, (a, b) = angle.cos().to(x.dtype), angle.sin().to(x.dtype), x.chunk(2, -1)
    return torch.cat([a * cos - b * sin, a * sin + b * cos], -1)


def project(x, weight):
    """To heads: (batch, tokens, width) becomes (batch, tokens, heads, dim)."""
    return torch.einsum("btw,hdw->bthd", x, weight)


def my_heads(weight):
    """The query heads of this rank, as a slice of a weight that begins with heads."""
    return weight.chunk(ranks())[rank()]


def forward(x, layers, attention, caches):
    """New tokens through all layers; each rank adds what its heads say."""
    for w, cache in zip(layers, caches, strict=True):
        first = cache.length
        mixed = attention(x, w, cache, first)
        x = x + all_reduce(torch.einsum("bthd,hdw->btw", mixed, my_heads(w["out"])))
    return x


def decode(x, layers, attention, prompt):
    """The prompt at once, then token by token: outputs, caches, and how much the last one added."""
    caches, grown = [Cache() for _ in layers], 0
    outputs = [forward(x[:, :prompt], layers, attention, caches)]
    for token in x[:, prompt:].split(1, 1):
        before = sum(cache.nbytes for cache in caches)
        outputs.append(forward(token, layers, attention, caches))
        grown = sum(cache.nbytes for cache in caches) - before
    return torch.cat(outputs, 1), caches, grown


def without_cache(x, layers, attention, prompt):
    """The same outputs the long way: every step starts from the first token."""
    outputs, projected = [], 0
    for end in range(prompt, x.shape[1] + 1):
        caches = [Cache() for _ in layers]
        new = prompt if end == prompt else 1
        outputs.append(forward(x[:, :end], layers, attention, caches)[:, -new:])
        projected += caches[0].projected
    return torch.cat(outputs, 1), projected


def main(
    layers: int = 2,  # layers, of attention alone
    heads: int = 24,  # query heads in all, shared evenly by the ranks
    kv_heads: int = 4,  # key heads in all under GQA; heads is a multiple of it
    head_dim: int = 8,  # features of a head; in MLA rope_dim more for q and k
    seq: int = 10,  # tokens of a sequence at the end, prompt included
    prompt: int = 4,  # tokens that go through at once; fewer than seq
    batch: int = 2,  # sequences side by side
    latent: int = 32,  # numbers in MLA's latent of a token
    rope_dim: int = 4,  # numbers in MLA's RoPE key of a token
) -> Metrics:
    """Decode the same tokens with four kinds of cache, and once with none."""
    n, width = ranks(), heads * head_dim
    if min(layers, heads, kv_heads, head_dim, prompt, batch, latent, rope_dim) < 1:
        refuse("every size starts at 1")
    if prompt >= seq:
        refuse(f"a prompt of {prompt} leaves nothing to decode: take seq {prompt + 1} or more")
    if head_dim % 2 or rope_dim % 2:
        refuse("RoPE turns pairs of numbers: take an even head-dim and rope-dim, 2 or more")
    if heads % n or heads % kv_heads:
        some = [i for i in range(1, heads + 1) if heads % i == 0]
        refuse(f"ranks and kv-heads must divide {heads} heads: take both from {some}")

    def draw(*shape):
        return torch.randn(shape, dtype=torch.float64) / shape[-1] ** 0.5

    kinds = {}
    for kind, kv in (("mha", heads), ("gqa", kv_heads), ("mqa", 1), ("mla", heads)):
        shapes = {"q": (heads, head_dim, width), "out": (heads, head_dim, width)}
        shapes |= dict.fromkeys(("k", "v"), (kv, head_dim, latent if kind == "mla" else width))
        if kind == "mla":
            shapes |= {"down": (latent, width), "kr": (rope_dim, width)}
            shapes |= {"qr": (heads, rope_dim, width)}
        kinds[kind] = [
            {name: draw(*shape).to(device()) for name, shape in shapes.items()}
            for _ in range(layers)
        ]
    x = torch.randn(batch, seq, width, dtype=torch.float64).to(device())

    metrics, errors, prefill_errors = {}, [], []
    for kind, weights in kinds.items():
        truth = one_process(x, weights)
        attention = absorbed if kind == "mla" else grouped
        ours, caches, _ = decode(x, weights, attention, prompt)
        errors.append(max_error(ours, truth))
        prefill_errors.append(max_error(ours[:, :prompt], truth[:, :prompt]))
        check(f"{kind}: steps equal the whole sequence", errors[-1], "<", 1e-12)
        check(f"{kind}: every token is projected once", caches[0].projected, "==", seq)
        if kind == "gqa":
            slow, uncached = without_cache(x, weights, attention, prompt)
            check("without a cache it is the same", max_error(slow, truth), "<", 1e-12)
            metrics["heads_kept_gqa"] = counted(caches[0].parts[0].shape[2])
            metrics["projected_cached"] = counted(caches[0].projected)
            metrics["projected_uncached"] = counted(uncached)
        if kind == "mla":
            rebuilt, plain_caches, _ = decode(x, weights, plain, prompt)
            errors.append(max_error(rebuilt, truth))
            check("mla: plain equals the whole sequence", errors[-1], "<", 1e-12)
            metrics["expanded_plain"] = counted(plain_caches[0].expanded)
            metrics["expanded_absorbed"] = counted(caches[0].expanded)

        # Bytes as they are in practice.
        half = [{name: tensor.bfloat16() for name, tensor in w.items()} for w in weights]
        _, caches, grown = decode(x.bfloat16(), half, attention, prompt)
        kept = sum(cache.nbytes for cache in caches)
        check(f"{kind}: every token adds the same", kept, "==", grown * seq)
        metrics[f"bytes_{kind}"] = counted(kept)
        metrics[f"token_bytes_{kind}"] = counted(grown // (layers * batch))
    metrics["prefill_error"] = shared(compared(everyone(prefill_errors).max().item()))
    return metrics | {"decode_error": shared(compared(everyone(errors).max().item()))}


def one_process(x, layers):
    """The truth: the whole sequence at once, all heads, torch's attention, nothing kept."""
    for w in layers:
        q, source = project(x, w["q"]), x @ w["down"].T if "down" in w else x
        k, v = project(source, w["k"]), project(source, w["v"])
        if "down" in w:
            key = rope((x @ w["kr"].T)[:, :, None], 0).expand(-1, -1, k.shape[2], -1)
            q, k = torch.cat([q, rope(project(x, w["qr"]), 0)], -1), torch.cat([k, key], -1)
        else:
            q, k = rope(q, 0), rope(k, 0)
        k, v = (t.repeat_interleave(q.shape[2] // t.shape[2], 2) for t in (k, v))
        q, k, v = (t.transpose(1, 2) for t in (q, k, v))
        mixed = scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + torch.einsum("bhtd,hdw->btw", mixed, w["out"])
    return x


BREAKS = {
    "position-off-by-one": Break(
        old="        first = cache.length\n",
        new="        first = max(cache.length - 1, 0)\n",
        expect="gqa: steps equal the whole sequence",
        ranks=1,
        source="the first token after the prompt gets the position of the prompt's last",
    ),
    "written-too-late": Break(
        old="        return self.parts\n",
        new="        return before if before[0].shape[1] else self.parts\n",
        expect="gqa: steps equal the whole sequence",
        ranks=1,
        source="attention runs on the cache before the new token is in it: a token misses itself",
    ),
    "heads-interleaved": Break(
        old="[head // group - kv.start for head in mine]",
        new="[head % len(kv) for head in mine]",
        expect="gqa: steps equal the whole sequence",
        ranks=1,
        source="repeat where repeat_interleave is meant; right for MHA and MQA",
    ),
    "mask-from-the-corner": Break(
        old=".tril(k.shape[1] - q.shape[1])",
        new=".tril()",
        expect="gqa: steps equal the whole sequence",
        ranks=1,
        source="torch's is_causal=True is aligned to the upper left: one query sees the first key",
    ),
}

if __name__ == "__main__":
    run(__file__)
