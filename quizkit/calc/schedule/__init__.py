"""Pipeline schedules: the orders they prescribe, and what comes of an order on a clock."""

from quizkit.calc.schedule.orders import order as order
from quizkit.calc.schedule.placement import SCHEDULES as SCHEDULES
from quizkit.calc.schedule.placement import Op as Op
from quizkit.calc.schedule.placement import Order as Order
from quizkit.calc.schedule.placement import Placement as Placement
from quizkit.calc.schedule.placement import chunks_of as chunks_of
from quizkit.calc.schedule.placement import place as place
from quizkit.calc.schedule.simulator import Costs as Costs
from quizkit.calc.schedule.simulator import Run as Run
from quizkit.calc.schedule.simulator import simulate as simulate
