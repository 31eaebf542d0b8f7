"""List Unicode for TeX's names: symbols by what they do, small letters, accents."""

from collections.abc import Mapping


def _table(pairs: str) -> Mapping[str, str]:
    """`name sign name sign ...` as a table."""
    words = pairs.split()
    return dict(zip(words[::2], words[1::2], strict=True))


RELATIONS = _table(
    """
    le ≤ leq ≤ leqslant ≤ ge ≥ geq ≥ geqslant ≥ ne ≠ neq ≠ lt < gt > ll ≪ gg ≫
    approx ≈ sim ~ simeq ≃ equiv ≡ cong ≅ propto ∝ to → rightarrow → leftarrow ← gets ←
    longrightarrow → leftrightarrow ↔ Rightarrow ⇒ Leftarrow ⇐ Leftrightarrow ⇔ implies ⇒ iff ⇔
    mapsto ↦ in ∈ notin ∉ subset ⊂ subseteq ⊆ supset ⊃ mid | parallel ∥ perp ⊥ lesssim ≲ gtrsim ≳
    coloneqq ≔ triangleq ≜
    """
)
OPERATORS = _table(
    """
    times × cdot · div ÷ pm ± mp ∓ odot ⊙ oplus ⊕ otimes ⊗ cup ∪ cap ∩ setminus ∖ circ ∘
    ast * star ⋆ land ∧ wedge ∧ lor ∨ vee ∨ bmod mod
    """
)
BIG = _table("sum ∑ prod ∏ int ∫ bigcup ⋃ bigcap ⋂ bigoplus ⨁")
_NAMES = """
    log ln lg exp max min arg sup inf lim sin cos tan tanh det dim ker Pr gcd
    argmax argmin softmax mod
"""
FUNCTIONS: Mapping[str, str] = {name: name for name in _NAMES.split()}
SYMBOLS = _table(
    r"""
    alpha α beta β gamma γ delta δ epsilon ε varepsilon ε zeta ζ eta η theta θ iota ι kappa κ
    lambda λ mu μ nu ν xi ξ pi π rho ρ sigma σ tau τ upsilon υ phi φ varphi φ chi χ psi ψ omega ω
    Gamma Γ Delta Δ Theta Θ Lambda Λ Xi Ξ Pi Π Sigma Σ Upsilon Υ Phi Φ Psi Ψ Omega Ω
    nabla ∇ partial ∂ infty ∞ forall ∀ exists ∃ emptyset ∅ top ⊤ bot ⊥ ell ℓ hbar ℏ Re ℜ Im ℑ
    ldots … cdots ⋯ dots … vdots ⋮ ddots ⋱ prime ′ neg ¬ lnot ¬ angle ∠ degree °
    lVert ‖ rVert ‖ Vert ‖ | ‖ lvert | rvert | vert |
    lfloor ⌊ rfloor ⌋ lceil ⌈ rceil ⌉ langle ⟨ rangle ⟩ lbrace { rbrace }
    uparrow ↑ downarrow ↓ checkmark ✓ dagger † colon :
    """
)
SUPERSCRIPTS: Mapping[str, str] = {
    **dict(zip("0123456789+-=()", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾", strict=True)),
    **dict(zip("abcdefghijklm", "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐ", strict=True)),
    **dict(zip("noprstuvwxyz", "ⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ", strict=True)),
    **dict(zip("T⊤′−*", "ᵀᵀ′⁻*", strict=True)),
}
SUBSCRIPTS: Mapping[str, str] = {
    **dict(zip("0123456789+-=()", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎", strict=True)),
    **dict(zip("aehijklmnoprstuvx", "ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ", strict=True)),
}
ALPHABETS: Mapping[str, Mapping[str, str]] = {
    "mathbb": dict(zip("RNZQCEP", "ℝℕℤℚℂ𝔼ℙ", strict=True)) | {"1": "𝟙"},
    "mathcal": dict(zip("BEFHILMNDORX", "ℬℰℱℋℐℒℳ𝒩𝒟𝒪ℛ𝒳", strict=True)),
    "mathscr": dict(zip("BEFHILMR", "ℬℰℱℋℐℒℳℛ", strict=True)),
}
ACCENTS: Mapping[str, str] = {
    "hat": "\u0302",
    "widehat": "\u0302",
    "bar": "\u0304",
    "overline": "\u0305",
    "tilde": "\u0303",
    "vec": "\u20d7",
    "dot": "\u0307",
    "ddot": "\u0308",
    "underline": "\u0332",
}
