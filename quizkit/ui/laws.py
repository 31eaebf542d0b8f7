"""What each demo shows, in one line of Chinese; the English line is the demo's own docstring."""

from quizkit.lab.catalogue import Demo
from quizkit.words import Lang

IN_CHINESE = {
    "activations": "一层要为反向留 sbh(34 + 5as/h) 字节；只开 TP，34 里只有 24 能除以 t。",
    "all-gather-attention": "先收齐 K、V 再算：字节和 Ring 一样多，显存更费，掩码随便换。",
    "all-reduce": "ring all-reduce：不管多少个 rank，每个都只发数据量的 2(N-1)/N 倍。",
    "all-reduce-trees": "对半分再加倍：ring 的字节，2 log₂N 轮；两棵树，谁也不在两边都当中间节点。",
    "all-reduce-two-level": "两级 all-reduce 省的是步数：2(gM-1) 变 2(g-1)+2(M-1)；字节省不了多少。",
    "attention-numbers": "低精度下的注意力：分数方差是 d，exp 会溢出，整行遮住出 NaN，分块有舍入。",
    "cp-activations": "上下文并行：每层为反向留的都除以 c，权重一点不少，通信只在注意力里。",
    "cp-layouts": "每个 rank 的 token 一样多，活却不一样多：谁拿哪些 token，决定谁等谁。",
    "ddp": "数据并行：起点相同，梯度相同，各份就一直相同；loss 要除以全部 rank 的 token 数。",
    "flash": "FlashAttention 搬的数是 N²d²/M 量级，不是 N²；第二版把两层循环对调。",
    "flops": "训练的 FLOPs：每个 token 对每个做乘法的权重算 6 次，注意力另算。",
    "grad-noise": "梯度噪声是 tr(Σ)/B：只看全局 batch 有多大，几个 rank 分着算都一样。",
    "kv-cache": "KV cache 不改变输出：每个 token 只投影一次，K 和 V 留着。",
    "label-shift": "标签先移位再切；loss 除以全部 rank 的目标数，梯度在 DP × CP 上求和。",
    "model-states": "模型状态：混合精度 Adam 每个参数占 16 字节，ZeRO 一级一级往下切。",
    "no-sync": "DDP 在反向里归约，归不归约前向就定了：K 个 micro-batch 归约 K 次、1 次或 0 次。",
    "online-softmax": "online softmax：扫一遍就有最大值和总和，注意力不用存 N×N 的矩阵。",
    "paged-cache": "PagedAttention：KV cache 按块分，只有最后一块可能不满；先共享，要写才复制。",
    "parallel-norm-softmax": "norm、softmax 算的那一维要是切开了，前向、反向都得跨 rank 求和。",
    "pipeline": "各 stage 等时，1F1B 和 GPipe 空等得一样久，但激活只留 min(p-s, m) 份，不是 m 份。",
    "pipeline-async": "不做 flush 就没有空等；代价是 stage s 留 p-s 份权重，梯度晚 p-1-s 次更新。",
    "pipeline-checkpoint": "1F1B 加重计算：留 min(p-s, m) 份段输入，外加一段激活，多做一次前向。",
    "pipeline-data": "流水线外面套数据并行：每个 stage 一步只归约一次，放在自己最后一个反向之后。",
    "pipeline-dualpipe": "DualPipe 从两头喂流水线：空档少了，权重要多放一份。",
    "pipeline-interleaved": "每个 rank 放 v 段层，气泡缩到理想计算时间的 (p-1)/(vm)。",
    "pipeline-lengths": "短样本拼满一行，流水线才算填满；靠 padding 填，填的是空气。",
    "pipeline-orders": "只要等待不成环，按什么顺序跑梯度都一样；差的是时间和显存。",
    "pipeline-partition": "流水线的节拍由最慢的 stage 定：按开销切，别按层数切。",
    "pipeline-zero": "流水线里 ZeRO-1 通信量等于一次 all-reduce；ZeRO-2、3 每个 micro-batch 都付。",
    "pipeline-zero-bubble": "反向拆成两半：相邻 stage 只等 B，W 拿来填空档。",
    "quantised-sum": "梯度压位宽：fp16 字节减半；int8 直接相加第一步就溢出，要先还原再加。",
    "ring-attention": "ring attention 是精确的：Q 不动，K、V 转圈，局部 softmax 再合并。",
    "ring-rounding": "环和单卡不会逐位相同；中间结果留 fp32，误差约是单卡的 √2 倍，环多大都一样。",
    "ring-ulysses": "两维一起切：组内按头换，组间 K、V 转圈；头数不再封顶，圈也短了。",
    "rope-context": "RoPE 按 token 的全局位置转：序列怎么切都行，一条消息也不用发。",
    "sampler": "各 rank 用同一个 seed 打乱，rank r 从第 r 个起每隔 N 个拿一个；不足就从头补。",
    "sequence-parallel": "矩阵乘之间各 token 互不相干：norm、dropout 按 token 切，前向字节不变。",
    "tensor-parallel": "列切接行切的一对线性层，前向一次 all-reduce，反向一次 all-reduce。",
    "tied-embeddings": "流水线头尾共用一张词表：两头各攒一半梯度，每步加一次。",
    "top-k": "top-k 要收齐各 rank 的（值，下标）：密度不到 1/N，才比稠密的 ring 省。",
    "tp-attention": "注意力按整个 head 切：里面不通信，外面前向、反向各一次 all-reduce。",
    "tp-cuts": "第一个矩阵按列切，第二个按行切：一次 all-reduce 就够，跟宽窄无关。",
    "tp-gradients": "张量并行里，只有列切层的输入梯度是部分和，要各 rank 加起来。",
    "tp-overlap": "不等消息的计算，趁消息在路上做掉：时间取较长的那个，而不是两个相加。",
    "tp-random": "各 rank 都有的，用同一条随机流；各自独有的，用自己的随机流。",
    "ulysses": "Ulysses：注意力前后 all-to-all，把 token 换成头再换回来；份数不能超过头数。",
    "uneven-inputs": "各 rank 的 batch 数不同：事先说好步数，或者做完的陪着通信；barrier 不管用。",
    "varlen": "一次注意力算多条文档：每个 token 只看自己那条，边界由 cu_seqlens 给。",
    "vocab-parallel": "词表切给 t 个 rank：算 loss，每个 token 换 3 个数就够，不用收 logits。",
    "window-attention": "窗口 W：缓存留 W 个，跨卡只取 W-1 个，L 层看到 L(W-1)+1 个 token。",
}


def law(demo: Demo, lang: Lang) -> str:
    """The demo's line; one of the user's own has its docstring's in both languages."""
    return IN_CHINESE.get(demo.name, demo.law) if lang == "zh" else demo.law
