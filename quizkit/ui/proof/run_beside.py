"""Say in a few words what a recorded run measured of a number that an interview asked."""

from quizkit.bank.model import Text
from quizkit.mock.kept_card import KeptRun
from quizkit.mock.marks import Mark
from quizkit.proof.view import ProofView
from quizkit.tutor.desk import Moment
from quizkit.ui.proof.agreement import number_said
from quizkit.words import Lang


def run_beside(mark: Mark, proof: ProofView) -> KeptRun | None:
    """Return what was said and what the run says; None where it measures nothing that was asked."""
    if proof.measured is None or mark.verdict is None:
        return None

    def told(lang: Lang) -> tuple[str, str, bool | None]:
        moment = Moment("verdict", mark.asked, lang, 1, given=mark.given, verdict=mark.verdict)
        return number_said(moment, proof)

    (mine, run, agrees), (in_english, run_in_english, _) = told("zh"), told("en")
    return KeptRun(
        said=Text(mine, in_english),
        run=Text(run, run_in_english),
        demo=proof.demo.name,
        agrees=agrees,
    )
