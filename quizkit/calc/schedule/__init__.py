"""Pipeline schedules: the orders they prescribe, and what comes of an order on a clock."""

from quizkit.calc.schedule.orders import order as order
from quizkit.calc.schedule.placement import SCHEDULES as SCHEDULES
from quizkit.calc.schedule.placement import Name as Name
from quizkit.calc.schedule.placement import Op as Op
from quizkit.calc.schedule.placement import Order as Order
from quizkit.calc.schedule.placement import StagePlacement as StagePlacement
from quizkit.calc.schedule.placement import chunks_of as chunks_of
from quizkit.calc.schedule.placement import place as place
from quizkit.calc.schedule.simulator import Costs as Costs
from quizkit.calc.schedule.simulator import Event as Event
from quizkit.calc.schedule.simulator import Number as Number
from quizkit.calc.schedule.simulator import SimulatedRun as SimulatedRun
from quizkit.calc.schedule.simulator import messages as messages
from quizkit.calc.schedule.simulator import peak_live as peak_live
from quizkit.calc.schedule.simulator import simulate as simulate
