"""The directive ``command-help``: what ``svmselect <command> --help`` prints, from the parser itself."""

import os

from docutils import nodes
from docutils.parsers.rst import Directive


class CommandHelp(Directive):
    """Help of the command that the arguments name, or of ``svmselect``."""

    optional_arguments = 2

    def run(self):
        from svmselect.cli import COMMANDS
        from svmselect.cli.arguments import parser

        os.environ["COLUMNS"] = "90"  # argparse asks for the terminal's width
        part = parser(COMMANDS)
        for name in self.arguments:
            (choices,) = [action.choices for action in part._actions if hasattr(action, "add_parser")]
            part = choices[name]
        text = part.format_help()
        return [nodes.literal_block(text, text, language="text")]


def setup(app):
    app.add_directive("command-help", CommandHelp)
    return {"parallel_read_safe": True}
