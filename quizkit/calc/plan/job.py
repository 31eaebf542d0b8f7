"""What is to be trained on what, and what is assumed of both: the inputs that no layout changes."""

from dataclasses import dataclass, fields

from quizkit.calc.chips import Chip
from quizkit.calc.figure import Value
from quizkit.calc.models import Model


@dataclass(frozen=True, slots=True)
class Assumed:
    """What is taken for granted where nothing was measured."""

    efficiency: float = 0.65
    """Of the dense peak: large products, and the kernels between them."""
    link_share: float = 0.8
    """Of a link's rate, what a collective gets."""
    usable: float = 1.0
    """Of the GB as sold: what a driver shows beyond them, some 7 %, is for CUDA, NCCL and holes."""
    call: float = 8.4e-6
    hop_inside: float = 3.4e-6
    hop_across: float = 14e-6
    """Seconds: NCCL's own figures for rings (src/graph/tuning.cc, protocol Simple)."""
    dtype_bytes: float = 2
    grad_bytes: float = 4
    causal: bool = True
    overlap: bool = True
    """Whether messages hide behind products."""
    rails: bool = True
    """Whether a ring leaves a node by the network cards of all its ranks there."""


@dataclass(frozen=True, slots=True)
class Job:
    """A model, GPUs, and a step's batch in sequences."""

    model: Model
    chip: Chip
    gpus: int
    seq: int
    batch: int
    assumed: Assumed = Assumed()

    @property
    def usable_bytes(self) -> float:
        """What a GPU has for the model."""
        return self.chip.memory * self.assumed.usable

    def inputs(self) -> dict[str, Value]:
        """All that the figures take, but for the layout."""
        model, chip, assumed = self.model, self.chip, self.assumed
        assumptions = {each.name: getattr(assumed, each.name) for each in fields(assumed)}
        tables = (1 if model.tied else 2) * model.vocab * model.hidden
        inside = model.params - model.expert_params - tables
        return assumptions | {
            "layers": model.layers,
            "hidden": model.hidden,
            "heads": model.heads,
            "kv_heads": model.kv_heads,
            "head_dim": model.score_dim,
            "vocab": model.vocab,
            "tied": model.tied,
            "topk": model.topk,
            "experts": model.experts,
            "matrix_params": model.multiplied_params,
            "layer_params": inside / model.layers,
            "expert_layer_params": model.expert_params / model.layers,
            "moe_share": model.moe_layers / model.layers,
            "attention_kept": _attention_kept(model),
            "mlp_kept": _mlp_kept(model),
            "cheap_kept": _cheap_kept(model),
            "cheap_flops": _cheap_flops(model),
            "seq": self.seq,
            "global_batch": self.batch,
            "gpus": self.gpus,
            "peak": chip.flops,
            "hbm": chip.hbm,
            "inside": chip.inside,
            "across": chip.across,
            "node": chip.node,
            "optimizer": "adam",
            "master": True,
            "offload": False,
            "shard": 0,
            "weight_dtype": "bf16",
            "grad_dtype": "fp32",
            "dtype": "bf16",
            "dropout": False,
            "flash": True,
            "loss_chunks": 1,
        }


def _attention_kept(model: Model) -> int:
    """Numbers a token leaves in one attention, of what tp cuts: Q, K, V, and what comes out."""
    if model.latent:
        return model.heads * 2 * (model.head_dim + model.rope_dim + model.value_dim)
    return 2 * (model.heads + model.kv_heads) * model.head_dim


def _mlp_kept(model: Model) -> int:
    """The same of one MLP: what goes into the activation and comes out; of experts, copies too."""
    inner = 3 if model.gated else 2
    if not model.experts:
        return inner * model.ffn
    width = (model.topk + model.shared_experts) * model.expert_ffn
    return model.topk * model.hidden + inner * width


def _cheap_kept(model: Model) -> int:
    """Of both, what selective recomputation lets go, and the inputs of products besides.

    What comes out of the activation; of MLA, what its latent vectors are projected up to.
    """
    width = model.ffn
    if model.experts:
        width = (model.topk + model.shared_experts) * model.expert_ffn
    if not model.latent:
        return width
    up = model.heads * (2 * (model.head_dim + model.rope_dim) + model.value_dim)
    return width + up - model.query_latent - model.latent - model.rope_dim


def _cheap_flops(model: Model) -> int:
    """What those projections cost a token."""
    query = model.query_latent * model.heads * (model.head_dim + model.rope_dim)
    return 2 * (query + model.latent * model.heads * (model.head_dim + model.value_dim))
