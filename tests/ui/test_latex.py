"""Formulas in one line mean what they meant in two dimensions."""

import pytest

from quizkit.ui.text.latex import unicode


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        (r"\frac{p-1}{m+p-1}", "(p-1)/(m+p-1)"),
        (r"2\frac{n-1}{n}S", "2((n-1)/n)S"),
        (r"\frac{p-1}{m} + 1", "(p-1)/m + 1"),
        (r"\frac{1}{bc}", "1/(bc)"),
        (r"\frac{2n}{m}", "2n/m"),
        (r"\frac{\frac{a}{b}}{c}", "(a/b)/c"),
        (r"\frac12 x", "(1/2) x"),
        (r"\frac{a}{b}^2", "(a/b)²"),
        (r"\left(\frac{a}{b}\right)^2", "(a/b)²"),
        (r"\frac{T(n)}{\max(a,b)}", "T(n)/max(a,b)"),
        (r"\frac{\partial L}{\partial W}", "∂L/∂W"),
        (r"x^{\frac{1}{2}}", "x^(1/2)"),
        (r"\sqrt{a+b}", "√(a+b)"),
        (r"\sqrt[3]{x}", "³√x"),
        (r"\binom{n}{k}", "C(n, k)"),
        (r"\sum_{i=1}^{n} x_i^2", "∑ᵢ₌₁ⁿ xᵢ²"),
        (r"\text{softmax}\left(\frac{QK^\top}{\sqrt{d_k}}\right)V", "softmax(QKᵀ/√dₖ)V"),
        (r"\begin{bmatrix} a & b \\ c & d \end{bmatrix}", "[a b; c d]"),
        (r"2^{20}", "2²⁰"),
        (r"10^{-3}", "10⁻³"),
        (r"d_{\text{model}}", "d_model"),
        (r"x_{i,j}", "x_(i,j)"),
        (r"e^{x_i - m}", "e^(xᵢ - m)"),
        (r"{a+b}^2", "(a+b)²"),
        (r"a\leq b\times c", "a ≤ b × c"),
        (r"\log_2 n", "log₂ n"),
        (r"O(\log n)", "O(log n)"),
        (r"\sin\frac{a}{b}", "sin (a/b)"),
        (r"\lceil \frac{n}{k} \rceil", "⌈n/k⌉"),
        (r"-\frac{a}{b}", "-a/b"),
        (r"\text{bytes} = 16\,\Psi / N_d", "bytes = 16 Ψ / N_d"),
        (r"\mathbb{E}[X]", "𝔼[X]"),
        (r"5\%", "5%"),
        (r"\unknown{x} y", "unknown x y"),
        (r"6ND", "6ND"),
        (r"4sbh(34+5as/h)", "4sbh(34+5as/h)"),
        (r"\text{time}t", "time t"),
    ],
)
def test_one_line(source: str, shown: str):
    assert unicode(source) == shown


@pytest.mark.parametrize("broken", ["{a", r"\frac{a}", "x^", "\\", "}", r"\sqrt", r"\left", "_"])
def test_what_is_not_finished_is_shown_all_the_same(broken: str):
    assert isinstance(unicode(broken), str)


def test_brackets_are_neither_lost_nor_left_open():
    for source in (r"2(a+\frac{b}{c})(d-e)", r"f\left(g(x), \frac{1}{1+x}\right)"):
        shown = unicode(source)
        assert shown.count("(") == shown.count(")") >= source.count("(")
