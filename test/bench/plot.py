"""The ratios of rates as a picture: an SVG, drawn from the goals and nothing else.

One line a goal: a bar from the lowest round to the highest, a dot at the median,
and a tick at the goal.  The axis is logarithmic, so that twice as fast lies as
far to the right as half as fast to the left.
"""

import math
from html import escape

WIDTH, LEFT, RIGHT, TOP, LINE, BOTTOM = 880, 385, 765, 64, 26, 40

STYLE = """\
svg { font: 13px system-ui, sans-serif }
.title { font-weight: 600 }
.range { stroke-width: 6; stroke-linecap: round; stroke-opacity: .35 }
.goal { stroke-width: 2 }
"""

LIGHT = {"paper": "#ffffff", "ink": "#1f2328", "faint": "#6e7781", "rule": "#d8dee4",
         "bad": "#cf222e", "good": "#1a7f37"}
DARK = {"paper": "#0d1117", "ink": "#e6edf3", "faint": "#8b949e", "rule": "#30363d",
        "bad": "#ff7b72", "good": "#3fb950"}


def colours(palette):
    return """\
text {{ fill: {ink} }}
.paper {{ fill: {paper} }}
.faint {{ fill: {faint} }}
.line {{ stroke: {rule} }}
.even, .goal {{ stroke: {ink} }}
.dot.good {{ fill: {good} }}
.dot.bad {{ fill: {bad} }}
.range.good {{ stroke: {good} }}
.range.bad {{ stroke: {bad} }}
""".format(**palette)


class Drawing:
    def __init__(self, low, high, height):
        self.low, self.high, self.height = low, high, height
        self.parts = []

    def x(self, value):
        span = math.log(self.high) - math.log(self.low)
        return round(LEFT + (RIGHT - LEFT) * (math.log(value) - math.log(self.low)) / span, 1)

    def add(self, tag, content=None, **attributes):
        given = "".join(f' {name.rstrip("_").replace("_", "-")}="{escape(str(value))}"'
                        for name, value in attributes.items())
        self.parts.append(f"<{tag}{given}/>" if content is None
                          else f"<{tag}{given}>{escape(content)}</{tag}>")

    def text(self, x, y, content, class_="", anchor="start"):
        self.add("text", content, x=x, y=y, class_=class_, text_anchor=anchor)

    def line(self, x1, y1, x2, y2, class_="line"):
        self.add("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=class_)

    def axis(self):
        for value in (0.25, 0.5, 1, 2, 5, 10, 20, 50, 100):
            if self.low <= value <= self.high:
                x = self.x(value)
                self.line(x, TOP - 8, x, self.height - BOTTOM, "even" if value == 1 else "line")
                self.text(x, TOP - 14, f"{value:g} ×", "faint", "middle")

    def goal(self, y, goal):
        seen, kind = goal.seen, "good" if goal.verdict == "PASS" else "bad"
        self.text(16, y + 4, label(goal))
        self.line(self.x(seen.low), y, self.x(seen.high), y, f"range {kind}")
        x = self.x(goal.bound)
        self.line(x, y - 9, x, y + 9, "goal")
        self.add("circle", cx=self.x(seen.middle), cy=y, r=5, class_=f"dot {kind}")
        self.text(WIDTH - 16, y + 4, f"{seen} ×  {goal.verdict}", anchor="end")


def label(goal):
    return f"{goal.work} / {goal.yardstick}".replace("`", "")


def draw(goals):
    values = [value for goal in goals
              for value in (goal.bound, goal.seen.low, goal.seen.high, 1)]
    height = TOP + LINE * len(goals) + BOTTOM
    drawing = Drawing(min(values) / 1.15, max(values) * 1.15, height)
    drawing.add("rect", width=WIDTH, height=height, rx=6, class_="paper")
    drawing.text(16, 24, "Leases renewed in a second, as a multiple of the yardstick's", "title")
    drawing.axis()
    for number, goal in enumerate(goals):
        drawing.goal(TOP + LINE * number + LINE // 2, goal)
    drawing.text(16, height - 14, "dot: median of the rounds;  bar: all of them;"
                 "  upright stroke: the goal;  logarithmic", "faint")
    told = "; ".join(f"{label(goal)}: {goal.seen}" for goal in goals)
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}"'
        f' width="{WIDTH}" height="{height}" role="img">',
        f"<title>Rates of renewal against the yardsticks: {escape(told)}</title>",
        f"<style>\n{STYLE}{colours(LIGHT)}"
        f"@media (prefers-color-scheme: dark) {{\n{colours(DARK)}}}\n</style>",
        *drawing.parts, "</svg>", ""])
