"""Which parallel layouts of a training step fit, and how long each of them takes.

A layout is (tp, cp, pp, virtual, ep, dp, zero, micro-batch, recompute). Every term is a figure.

The model of time. A step is the sum of
- compute: the operations of the fullest pipeline rank, over a stated share of the dense peak, or
  what reading weights and adding to fp32 gradients takes where few tokens meet them (experts);
- recompute: forwards done again;
- tp: collectives inside the layers, of which 4 of a backward's 6 hide beside products; ep: all of
  its all-to-alls; cp: what attention does not hide, and adding up;
- logits: what the last rank has more to do than the others, once a micro-batch;
- bubble: (p - 1)/v micro-batches of work, closed form of 1F1B and its interleaved kin;
- pp: hops that no schedule hides, counted by playing 1F1B with messages that take time;
- dp: gradients beyond one micro-batch's backward and gathered weights beyond one forward, at least
  one layer's; ZeRO-2 scatters and ZeRO-3 gathers for every micro-batch, behind that one's work;
- update: the optimizer reads and writes its states once.

Memory is that of the fullest rank, against all GB as sold: what a driver shows beyond them, some 7
per cent, is left to CUDA, NCCL and holes.

Assumed: bf16 weights, fp32 gradients, Adam with an fp32 copy; sequence parallelism wherever tp > 1;
a fused attention kernel, causal; ring attention for cp, shared evenly; selective recomputation of
norms, activations and MLA's up-projections; experts cut by ep alone, balanced, over tp x cp x dp;
ranks laid out tp, cp, dp, pp, tp fastest; rings over several nodes use the network cards of all
their members. Left out: DualPipe and zero-bubble orders, fp8, offload, dropout, a part of the
layers recomputed, slow ranks, uneven experts.
"""

from quizkit.calc.plan.sheet import SHEET as SHEET
