"""Figures as places on a drawing: bars with intervals, one dot a kind of question, the curve of refusals.

Pure; numbers and words only, no markup. Places of bars and panels are percent of a 0 to 1 scale; those of the curve are the template's own
coordinates.
"""

from __future__ import annotations

from typing import Any, Mapping

from . import words

_LEFT, _BOTTOM, _WIDE, _HIGH = 52, 340, 430, 330
"""The template's square for the curve: x = 52 + 430 × share, y = 340 − 330 × share."""
_ROW = 27
"""Height of a kind's row in a panel."""
_LONGEST = 15
"""Letters of a kind's name that fit beside its bar."""
_SHOWN = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


def row(name: str, figure: Mapping[str, Any]) -> dict[str, Any]:
    """A figure of summary.json with its words and, if it is a share, its places."""
    value, unit = figure["value"], figure["unit"]
    low, high = (value if figure.get(end) is None else figure[end] for end in ("low", "high"))
    first, last, at = (round(100 * min(1.0, max(0.0, v)), 2) for v in (low, high, value))
    return {
        "name": name,
        "value": words.figure(value, unit),
        "short": words.figure(value, unit, short=True),
        "range": words.span(figure),
        "n": f"{figure['n']:,}",
        "less": figure["better"] == "lower",
        "drawn": unit == "share",
        "at": at,
        "low_at": first,
        "wide": round(last - first, 2),
    }


def drawable(name: str, half: Mapping[str, Any]) -> bool:
    """Whether a panel says something: the metric is a share, and applies to two kinds at least."""
    known = half["metrics"].get(name)
    return bool(known and known["unit"] == "share" and sum(name in figures for figures in half["kinds"].values()) > 1)


def panel(title: str, name: str, half: Mapping[str, Any]) -> dict[str, Any]:
    """One metric by kind, the best kind first. `behind`: the whole interval is on the worse side of the value over all kinds."""
    whole = half["metrics"][name]
    sign = 1 if whole["better"] == "higher" else -1
    found = [(kind, figures[name]) for kind, figures in half["kinds"].items() if name in figures]
    rows = []
    for place, (kind, figure) in enumerate(sorted(found, key=lambda pair: (-sign * pair[1]["value"], pair[0]))):
        behind = figure["high"] < whole["value"] if sign > 0 else figure["low"] > whole["value"]
        rows.append(
            {
                **row(name, figure),
                "kind": kind if len(kind) <= _LONGEST else kind[: _LONGEST - 1] + "…",
                "y": 20 + _ROW * place,
                "behind": behind,
            }
        )
    spoken = f"{title}, over all {words.figure(whole['value'], whole['unit'])}; " + ", ".join(f"{r['kind']} {r['short']}" for r in rows)
    return {"label": title, "at": row(name, whole)["at"], "rows": rows, "height": 20 + _ROW * len(rows) + 14, "spoken": spoken}


def refusal(figures: Mapping[str, Any]) -> dict[str, Any] | None:
    """The curve of a half's refusal figures in summary.json; None without answerable and unanswerable questions. `now`: the threshold that
    refuses as many as the run did."""
    if not figures.get("answerable") or not figures.get("unanswerable") or figures.get("auroc") is None:
        return None
    points = [(0.0, 0.0), *((lost, caught) for _, lost, caught in figures["curve"]), (1.0, 1.0)]
    lost, caught = figures["false_refusals"] / figures["answerable"], figures["caught"] / figures["unanswerable"]
    told = (
        f"{figures['caught']:,} of {figures['unanswerable']:,} unanswerable questions were refused ({caught:.0%}), "
        f"and {figures['false_refusals']:,} of {figures['answerable']:,} answerable ones by mistake ({lost:.0%}). "
        f"An answerable question is given a higher answerability than an unanswerable one in {figures['auroc']:.1%} of pairs (AUROC); "
        "a coin would reach half, the dashed line."
    ).replace("%", " %")
    return {
        "words": told,
        "spoken": f"Curve of refusals, area {figures['auroc']:.2f}",
        "path": "M" + " L".join(f"{_x(x)} {_y(y)}" for x, y in points),
        "here": {"x": _x(lost), "y": _y(caught)},
        "rows": [
            {
                "threshold": f"{t:.2f}",
                "false": f"{100 * x:.0f} %",
                "caught": f"{100 * y:.0f} %",
                "now": abs(x - lost) < 0.005 and abs(y - caught) < 0.005,
            }
            for t, x, y in figures["curve"]
            if any(abs(t - shown) < 1e-9 for shown in _SHOWN)
        ],
    }


def _x(share: float) -> float:
    return round(_LEFT + _WIDE * share, 1)


def _y(share: float) -> float:
    return round(_BOTTOM - _HIGH * share, 1)
