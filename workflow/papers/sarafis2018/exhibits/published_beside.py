"""Tables by data set: our values, and the published ones in brackets."""

from lib import tables
from lib.shown import dataset_in_words
from lib.tables import arranged, data_set, faster, lines_of, printed_text, shown

NAMES = {
    "span_rule": "Span rule",
    "span_bound": "Span bound",
    "kfold": "5-fold CV",
    "xi_alpha": "xi-alpha bound",
    "loo": "Exact LOO",
    "best_on_test": "Least error",
}
KEY = ("dataset", "method", "metric")


def lookup(tidy):
    """Return values and spreads by data set, method and metric."""
    return tables.lookup(tidy, KEY)


class PublishedBeside:
    """The columns of a table, each a function of the data set."""

    def __init__(self, table, tidy, published):
        self.ours, self.printed = lookup(tidy), lookup(published[published["exhibit"] == table])
        self.text = printed_text(published, table, KEY)
        self.lines = lines_of(tidy, "dataset")
        self.datasets = [dataset for (dataset,) in self.lines]

    def alone(self, decimals, *key):
        return shown(self.ours, decimals, *key)

    def both(self, decimals, *key, spread=False):
        return shown(self.ours, decimals, *key, spread=spread, printed=self.text)

    def over(self, below, kfold="kfold"):
        """Return a column of LIBSVM's time over that of a method."""
        return faster(self.ours, kfold, "time", below)

    def arranged(self, columns, *notes, name=data_set):
        """Return the `Table` of some columns after that of the data set, whose text is `name`."""
        return arranged(self.lines, [("", "Data set", name), *columns], list(notes))

    def part_of_the_grid(self, whole):
        """Return a note on exact leave-one-out if it was not run on every model."""
        parts = []
        for dataset in self.datasets:
            some, every = (self.ours(dataset, method, "models")[0] for method in ("loo", whole))
            if some < every:
                parts.append(f"{dataset_in_words(dataset)}: {some:.0f} of {every:.0f}")
        return [f"Exact LOO was run on a sub-grid of the models: {', '.join(parts)}."] if parts else []
