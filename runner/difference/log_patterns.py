"""Kinds of log events of two runs side by side, those first that differ most; pure."""

import pandas as pd


def pattern_rows(a: pd.DataFrame, b: pd.DataFrame, *, limit: int = 12) -> list[dict[str, str]]:
    """`kind`, lines and requests on both sides; kinds that are as frequent in both are left out."""
    both = a.merge(b, on=["kind", "event_class"], how="outer", suffixes=("_a", "_b"))
    counts = ["lines_a", "requests_a", "lines_b", "requests_b"]
    both[counts] = both[counts].apply(pd.to_numeric).fillna(0).astype(int)
    both = both[both["lines_a"] != both["lines_b"]]
    order = (both["lines_a"] - both["lines_b"]).abs().sort_values(ascending=False, kind="stable")
    return [
        {
            "kind": str(row["kind"]).replace("_", " "),
            "class": str(row["event_class"]),
            "A lines": f"{row['lines_a']:,}",
            "B lines": f"{row['lines_b']:,}",
            "A requests": f"{row['requests_a']:,}",
            "B requests": f"{row['requests_b']:,}",
        }
        for row in both.loc[order.index].head(limit).to_dict("records")
    ]
