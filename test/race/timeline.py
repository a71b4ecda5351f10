"""The race as a picture: an SVG, drawn from the report and nothing else.

One panel a run, one lane each for A, B, the row and the resource.  A bar in an
owner's lane is the time for which that owner believes to hold the lease; one
in the row's lane is what PostgreSQL has on record.  The instants are those of
the record, set at equal distances, so the axis is not to scale.
"""

from html import escape

PANELS = ("unsafe: blind heartbeat", "compare-and-renew", "defence in depth")
LANES = {"A": "A believes", "B": "B believes", "row": "the row says",
         "resource": "the resource"}
WIDTH, LEFT, RIGHT = 880, 112, 848
TOP, TITLE, LANE, GAP = 58, 30, 30, 22
PANEL = TITLE + LANE * len(LANES) + GAP

STYLE = """\
svg { font: 13px system-ui, sans-serif }
text, .good, .bad { stroke: none }
.title { font-weight: 600 }
.bar { fill-opacity: .18 }
.cross, .ring { stroke-width: 2.5; fill: none }
"""

LIGHT = {"paper": "#ffffff", "ink": "#1f2328", "faint": "#6e7781", "rule": "#d8dee4",
         "a": "#bc4c00", "b": "#0969da", "bad": "#cf222e", "good": "#1a7f37"}
DARK = {"paper": "#0d1117", "ink": "#e6edf3", "faint": "#8b949e", "rule": "#30363d",
        "a": "#f0883e", "b": "#58a6ff", "bad": "#ff7b72", "good": "#3fb950"}


def colours(palette):
    return """\
text {{ fill: {ink} }}
.paper {{ fill: {paper} }}
.faint {{ fill: {faint} }}
.line {{ stroke: {rule} }}
.A {{ fill: {a}; stroke: {a} }}
.B {{ fill: {b}; stroke: {b} }}
.good {{ fill: {good} }}
.bad {{ fill: {bad} }}
.cross, .ring {{ stroke: {bad} }}
""".format(**palette)


class Panel:
    """What one run's record says, as bars and marks in its lanes."""

    def __init__(self, run):
        self.title, self.verdict = run["run"], run["verdict"]
        self.bars = []
        self.refusals = []
        self.effects = []
        at = row = None
        for call in run["calls"]:
            if call["at"] is not None:
                at = call["at"]
            row = self.read(call, at, row)

    def read(self, call, at, row):
        who, name, answer = call["who"], call["call"], call["answer"]
        if name == "POST /effects":
            self.effects.append((at, who, answer))
        elif name == "blind UPDATE":
            self.pending = (who, name)
        elif name.startswith("lease_") and not answer["ok"]:
            self.refusals.append((at, who, f"{name}: {answer['outcome']}"))
        else:
            if who == "observer":
                if row == epoch(answer):
                    return row
                who, name = self.pending
            self.bars.append((who, at, answer["expires_at"], who, name))
            self.bars.append(("row", at, answer["expires_at"], answer["owner"],
                              f"{answer['owner']}, fence {answer['fence']}"))
            return epoch(answer)
        return row

    def instants(self):
        return {instant for _, start, end, *_ in self.bars for instant in (start, end)} \
            | {at for at, *_ in self.refusals + self.effects}


def epoch(answer):
    return tuple(answer[key] for key in ("owner", "fence", "version", "expires_at"))


class Drawing:
    def __init__(self, instants):
        step = (RIGHT - LEFT) / (len(instants) - 1)
        self.x = {instant: round(LEFT + number * step)
                  for number, instant in enumerate(sorted(instants))}
        self.parts = []

    def add(self, tag, content=None, **attributes):
        given = "".join(f' {name.rstrip("_").replace("_", "-")}="{escape(str(value))}"'
                        for name, value in attributes.items())
        self.parts.append(f"<{tag}{given}/>" if content is None
                          else f"<{tag}{given}>{escape(content)}</{tag}>")

    def text(self, x, y, content, class_="", anchor="start"):
        self.add("text", content, x=x, y=y, class_=class_, text_anchor=anchor)

    def line(self, x1, y1, x2, y2, class_="line"):
        self.add("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=class_)

    def cross(self, x, y):
        self.line(x - 5, y - 5, x + 5, y + 5, "cross")
        self.line(x - 5, y + 5, x + 5, y - 5, "cross")

    def axis(self, height):
        for instant, x in self.x.items():
            self.text(x, TOP - 10, str(instant), "faint", "middle")
            self.line(x, TOP, x, height - GAP)

    def panel(self, top, panel):
        middle = {lane: top + TITLE + LANE * number + LANE // 2
                  for number, lane in enumerate(LANES)}
        self.add("rect", x=0, y=top, width=WIDTH, height=TITLE - 4, class_="paper")
        self.text(16, top + 18, panel.title, "title")
        self.text(RIGHT, top + 18, panel.verdict,
                  "title bad" if panel.verdict == "CONFLICT" else "title good", "end")
        for lane, y in middle.items():
            self.text(16, y + 4, LANES[lane], "faint")
        self.bars(panel, middle)
        for at, who, label in panel.refusals:
            self.cross(self.x[at] + 14, middle[who])
            self.text(self.x[at] + 28, middle[who] + 4, label)
        for at, who, answer in panel.effects:
            self.effect(self.x[at], middle["resource"], who, answer,
                        panel.verdict == "CONFLICT" and at == panel.effects[-1][0])

    def bars(self, panel, middle):
        """Each until it ends, or until the next one of its lane begins."""
        for number, (lane, start, end, owner, label) in enumerate(panel.bars):
            later = [bar[1] for bar in panel.bars[number + 1:] if bar[0] == lane]
            x = self.x[start]
            width = self.x[min([end, *later])] - x
            self.add("rect", x=x, y=middle[lane] - 11, width=width, height=22, rx=3,
                     class_=f"bar {owner}")
            self.text(x + 8, middle[lane] + 4, label)

    def effect(self, x, y, who, answer, conflicting):
        if not answer["sent"]:
            return self.text(x + 28, y + 4, f"hears nothing from {who}", "faint")
        if not answer["accepted"]:
            self.cross(x + 14, y)
            return self.text(x + 28, y + 4, f"rejects {who}'s: {answer['status']}")
        self.add("circle", cx=x + 14, cy=y, r=6, class_=who)
        if conflicting:
            self.add("circle", cx=x + 14, cy=y, r=10, class_="ring")
        self.text(x + 28, y + 4, f"applies {who}'s effect")


def draw(report):
    panels = [Panel(run) for run in report["runs"] if run["run"] in PANELS]
    height = TOP + PANEL * len(panels)
    drawing = Drawing(set().union(*(panel.instants() for panel in panels)))
    drawing.add("rect", width=WIDTH, height=height, rx=6, class_="paper")
    drawing.text(16, 24, "One late heartbeat, three ways", "title")
    drawing.text(RIGHT, 24, "seconds, not to scale", "faint", "end")
    drawing.axis(height)
    for number, panel in enumerate(panels):
        drawing.panel(TOP + PANEL * number, panel)
    told = "; ".join(f"{panel.title}: {panel.verdict}" for panel in panels)
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}"'
        f' width="{WIDTH}" height="{height}" role="img">',
        f"<title>The heartbeat race: {escape(told)}</title>",
        f"<style>\n{STYLE}{colours(LIGHT)}"
        f"@media (prefers-color-scheme: dark) {{\n{colours(DARK)}}}\n</style>",
        *drawing.parts, "</svg>", ""])
