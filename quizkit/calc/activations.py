"""What the forward pass keeps for the backward pass: bytes per layer and in the fullest stage."""

from collections.abc import Mapping

from quizkit.calc.figure import Value, figure
from quizkit.calc.memory import BYTES, share
from quizkit.calc.sheet import CalcError, Calculator, Input, Quiz, SumTrap

PAPER = "Korthikanti et al. 2022, Reducing Activation Recomputation (arXiv:2205.05198)"
FLASH = "Dao et al., FlashAttention, NeurIPS 2022, section 3.1"
RING = "Liu et al., Ring Attention, 2023"
GROUPED = "Ainslie et al., GQA, EMNLP 2023"
SWIGLU = "Megatron-Core's fused SwiGLU keeps both halves it is made of, and its product"
LIGER = "Hsu et al., Liger Kernel, 2024"


@figure("tokens", f"{RING}: a rank has its part of every sequence")
def seq_per_rank(seq: int, cp: int) -> int:
    """The tokens of a sequence that one rank has; with its keys and values of these alone."""
    return seq // cp


@figure("parts", f"{PAPER}, section 4.2.2")
def sp_parts(tp: int, sp: bool) -> int:
    """Into how many parts what tensor parallelism leaves whole is cut."""
    return tp if sp else 1


@figure("bytes/element", f"{PAPER}, section 4.1: a dropout mask is one byte an element")
def mask_bytes(dropout: bool) -> int:
    """What a dropout mask adds."""
    return 1 if dropout else 0


@figure("elements", f"{PAPER}, section 3: the MLP is four times as wide")
def ffn_width(ffn: int, hidden: int) -> int:
    """The width inside the MLP."""
    return ffn if ffn > 0 else 4 * hidden


@figure("bytes", f"{PAPER}, section 4.1: 5as^2b; with flash, {FLASH}: a row's statistics")
def core_bytes(
    seq: int,
    seq_per_rank: int,
    batch: int,
    heads: int,
    tp: int,
    dtype: str,
    dropout: bool,
    flash: bool,
) -> int:
    """A fused kernel's fp32 log-sum-exp for each row of each head, and no mask.

    Else softmax output, its dropout's mask and output; without dropout the softmax output alone.
    """
    return (
        4 * heads * seq_per_rank * batch // tp
        if flash
        else (
            (2 * BYTES[dtype] + 1) * heads * seq_per_rank * seq * batch // tp
            if dropout
            else BYTES[dtype] * heads * seq_per_rank * seq * batch // tp
        )
    )


@figure("elements", f"{GROUPED}, section 2.2: K and V have heads of their own, fewer of them")
def kv_width(hidden: int, heads: int, kv_heads: int) -> int:
    """Width of all keys together, and again of all values."""
    return hidden * kv_heads // heads if kv_heads > 0 else hidden


@figure("bytes", f"{PAPER}, section 4.1: 11sbh, of them 8sbh divided by t")
def attention_bytes(
    seq_per_rank: int,
    batch: int,
    hidden: int,
    kv_width: int,
    tp: int,
    sp_parts: int,
    dtype: str,
    mask_bytes: int,
) -> int:
    """Attention without its core: its input and last mask; Q, K, V and the projection's input."""
    return (BYTES[dtype] + mask_bytes) * seq_per_rank * batch * hidden // sp_parts + 2 * BYTES[
        dtype
    ] * seq_per_rank * batch * (hidden + kv_width) // tp


@figure("bytes", f"{PAPER}, section 4.1: 19sbh, of them 16sbh divided by t; gated: {SWIGLU}")
def mlp_bytes(
    seq_per_rank: int,
    batch: int,
    hidden: int,
    ffn_width: int,
    gated: bool,
    tp: int,
    sp_parts: int,
    dtype: str,
    mask_bytes: int,
) -> int:
    """The MLP's input and last mask; what goes into GeLU, or into the gate, and what comes out."""
    return (BYTES[dtype] + mask_bytes) * seq_per_rank * batch * hidden // sp_parts + (
        3 if gated else 2
    ) * BYTES[dtype] * seq_per_rank * batch * ffn_width // tp


@figure("bytes", f"{PAPER}, section 4.1: 4sbh")
def norm_bytes(seq_per_rank: int, batch: int, hidden: int, sp_parts: int, dtype: str) -> int:
    """The inputs of the two layer norms."""
    return 2 * BYTES[dtype] * seq_per_rank * batch * hidden // sp_parts


@figure("bytes", f"{PAPER}, equations 1, 2 and 4; table 2")
def bytes_per_layer(
    seq_per_rank: int,
    batch: int,
    hidden: int,
    sp_parts: int,
    dtype: str,
    recompute: str,
    attention_bytes: int,
    mlp_bytes: int,
    norm_bytes: int,
    core_bytes: int,
) -> int:
    """One layer, one micro-batch, one device; under full recompute the layer's input alone."""
    return (
        BYTES[dtype] * seq_per_rank * batch * hidden // sp_parts
        if recompute == "full"
        else (
            attention_bytes + mlp_bytes + norm_bytes
            if recompute == "selective"
            else attention_bytes + mlp_bytes + norm_bytes + core_bytes
        )
    )


@figure("bytes", f"{PAPER}, section 5")
def recomputed_bytes(
    attention_bytes: int,
    mlp_bytes: int,
    norm_bytes: int,
    core_bytes: int,
    bytes_per_layer: int,
) -> int:
    """What one layer does not keep. It is back while that layer goes backward, in no total here."""
    return attention_bytes + mlp_bytes + norm_bytes + core_bytes - bytes_per_layer


@figure("chunks", f"{PAPER}, section 4.2.3: p of 1/p, or pv + p - 1 of 1/(pv) interleaved")
def first_stage_chunks(pp: int, virtual: int, microbatches: int) -> int:
    """How many chunks' activations the first stage holds at its peak, over all micro-batches."""
    return min(
        pp if virtual == 1 else pp * virtual + pp - 1,
        (microbatches if microbatches > 0 else 2 * pp) * virtual,
    )


@figure("bytes", f"{PAPER}, section 4.3: the mask of the embedding's dropout")
def embedding_bytes(
    seq_per_rank: int,
    batch: int,
    hidden: int,
    vocab: int,
    sp_parts: int,
    mask_bytes: int,
    pp: int,
    virtual: int,
    microbatches: int,
) -> int:
    """Kept by the first stage for each micro-batch that is under way.

    The paper counts p of them; interleaved, the first chunk really has up to 2p under way.
    """
    return (
        mask_bytes
        * seq_per_rank
        * batch
        * hidden
        // sp_parts
        * min(pp if virtual == 1 else 2 * pp, microbatches if microbatches > 0 else 2 * pp)
        if vocab
        else 0
    )


@figure("bytes", f"{PAPER}, section 4.3: 4sbv; {LIGER}: in chunks of tokens none is kept")
def logits_bytes(seq_per_rank: int, batch: int, vocab: int, tp: int, loss_chunks: int) -> int:
    """The fp32 log-softmax that the loss keeps; a loss in chunks keeps none."""
    return 4 * seq_per_rank * batch * vocab // tp if loss_chunks == 1 else 0


@figure("bytes", "counted of torch 2.13's cross entropy, logits in bf16 or fp32: 12 bytes each")
def loss_peak_bytes(
    seq_per_rank: int, batch: int, vocab: int, tp: int, loss_chunks: int
) -> int | None:
    """What is alive at the loss for a moment, 12 bytes a logit of one chunk; in no total here."""
    return share(12 * seq_per_rank * batch * vocab, tp * loss_chunks) if vocab else None


@figure("bytes", f"{PAPER}, section 4.3: 4sbh(1 + v/h)")
def output_bytes(
    seq_per_rank: int,
    batch: int,
    hidden: int,
    vocab: int,
    sp_parts: int,
    dtype: str,
    logits_bytes: int,
) -> int:
    """Kept by the last stage: the inputs of its norm and output layer, and the fp32 logits."""
    return (
        2 * BYTES[dtype] * seq_per_rank * batch * hidden // sp_parts + logits_bytes if vocab else 0
    )


@figure("bytes", f"{PAPER}, equations 5 and 6, sections 4.2.3 and 4.3")
def first_stage_bytes(
    layers: int,
    pp: int,
    virtual: int,
    first_stage_chunks: int,
    bytes_per_layer: int,
    embedding_bytes: int,
    output_bytes: int,
) -> int:
    """The first stage at its peak; if it is the only one it has the output layer too."""
    return (
        layers * first_stage_chunks // (pp * virtual) * bytes_per_layer + embedding_bytes
        if pp > 1
        else layers * first_stage_chunks * bytes_per_layer + embedding_bytes + output_bytes
    )


@figure("bytes", f"{PAPER}, section 4.3; (v-1)p + 1 chunks are alive on 1F1B's last stage")
def last_stage_bytes(
    layers: int,
    pp: int,
    virtual: int,
    bytes_per_layer: int,
    output_bytes: int,
    first_stage_bytes: int,
) -> int:
    """The last stage at its peak: logits of one micro-batch, for its backward comes at once."""
    return (
        layers * ((virtual - 1) * pp + 1) // (pp * virtual) * bytes_per_layer + output_bytes
        if pp > 1
        else first_stage_bytes
    )


@figure("bytes", f"{PAPER}, sections 4.2.3 and 4.3")
def fullest_stage_bytes(first_stage_bytes: int, last_stage_bytes: int) -> int:
    """The first stage, unless the logits make the last one fuller."""
    return max(first_stage_bytes, last_stage_bytes)


def _divides(inputs: Mapping[str, Value | None]) -> None:
    tp = _count(inputs, "tp")
    cut = {"heads": tp, "kv_heads": tp, "ffn": tp, "vocab": tp, "hidden": tp}
    cut["seq"] = _count(inputs, "cp") * (tp if inputs["sp"] else 1)
    cut["layers"] = _count(inputs, "pp") * _count(inputs, "virtual")
    for name, parts in cut.items():
        if _count(inputs, name) % parts:
            raise CalcError("calc_activations_divides", name=name, value=inputs[name], parts=parts)


def _groups(inputs: Mapping[str, Value | None]) -> None:
    heads, kv_heads = _count(inputs, "heads"), _count(inputs, "kv_heads")
    if kv_heads and heads % kv_heads:
        raise CalcError("calc_kv_heads", heads=heads, kv_heads=kv_heads)


def _interleaves(inputs: Mapping[str, Value | None]) -> None:
    pp, microbatches = _count(inputs, "pp"), _count(inputs, "microbatches")
    if _count(inputs, "virtual") > 1 and (pp == 1 or microbatches % pp):
        raise CalcError("calc_activations_interleaved", pp=pp, microbatches=microbatches)


def _count(inputs: Mapping[str, Value | None], name: str) -> int:
    value = inputs[name] or 0
    assert isinstance(value, (int, float)), name
    return int(value)


SHEET = Calculator(
    "activations",
    inputs=[
        Input("layers", of_model=lambda m: m.layers),
        Input("hidden", required=True, of_model=lambda m: m.hidden),
        Input("heads", required=True, of_model=lambda m: m.heads),
        Input("seq", required=True),
        Input("batch", default=1),
        Input("cp", default=1),
        Input("tp", default=1),
        Input("sp", "flag", False),
        Input("recompute", "choice", "none", ("none", "selective", "full")),
        Input("flash", "flag", True),
        Input("dropout", "flag", True, of_model=lambda m: m.layernorm),
        Input("dtype", "choice", "bf16", tuple(BYTES)),
        # Nought stands for what the paper takes: 4 x hidden, no output layer, a full pipeline.
        Input("ffn", default=0, least=0, of_model=lambda m: m.ffn),
        Input("gated", "flag", False, of_model=lambda m: m.gated),
        Input("kv_heads", default=0, least=0, of_model=lambda m: m.kv_heads),
        Input("vocab", default=0, least=0, of_model=lambda m: m.vocab),
        Input("loss_chunks", default=1),
        Input("pp", default=1),
        Input("virtual", default=1),
        Input("microbatches", default=0, least=0),
    ],
    figures=[
        seq_per_rank,
        sp_parts,
        mask_bytes,
        ffn_width,
        kv_width,
        core_bytes,
        attention_bytes,
        mlp_bytes,
        norm_bytes,
        bytes_per_layer,
        recomputed_bytes,
        first_stage_chunks,
        embedding_bytes,
        logits_bytes,
        loss_peak_bytes,
        output_bytes,
        first_stage_bytes,
        last_stage_bytes,
        fullest_stage_bytes,
    ],
    rules=[_divides, _groups, _interleaves],
    models="dense",
    quiz=Quiz(
        "bytes_per_layer",
        "MB",
        draws={
            "hidden": (4096, 8192),
            "heads": (32, 64),
            "seq": (1024, 2048, 4096),
            "batch": (1, 2),
            "tp": (2, 4, 8),
        },
        traps=(
            SumTrap("seq * batch * hidden * 34 / tp", "activations_all_divided"),
            SumTrap(
                "seq * batch * hidden * (10 + (24 + 5 * heads * seq / hidden) / tp)",
                "activations_scores_kept",
            ),
            SumTrap("seq * batch * hidden * 34", "activations_whole"),
        ),
        scale=1e6,
    ),
)
