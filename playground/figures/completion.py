"""What a shell completes: the commands, their flags, and the words that a flag takes.

eval "$(attention-playground completion bash)"      # in ~/.bashrc; zsh: the same in ~/.zshrc
attention-playground completion fish | source       # in ~/.config/fish/config.fish
"""

from __future__ import annotations

import argparse
import shlex

SHELLS = ("bash", "zsh", "fish")
BASH = """_attention_playground() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}" command="${{COMP_WORDS[1]}}" words=""
  if [ "$COMP_CWORD" -eq 1 ]; then words={commands}; else
    case "$command $before" in
{choices}
    esac
    if [ -z "$words" ]; then case "$command" in
{flags}
    esac; fi
  fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
  case "$word" in -*) ;; *) COMPREPLY+=($(compgen -f -- "$word")) ;; esac
}}
complete -o filenames -F _attention_playground attention-playground
"""


def script(shell: str, parser: argparse.ArgumentParser) -> str:
    commands = _commands(parser)
    return _fish(commands) if shell == "fish" else _bash(commands, zsh=shell == "zsh")


def _commands(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    found: dict[str, argparse.ArgumentParser] = {}
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            found |= action.choices
    return found


def _options(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    return [action for action in parser._actions if action.option_strings]


def _bash(commands: dict[str, argparse.ArgumentParser], zsh: bool) -> str:
    choices, flags = [], []
    for name, parser in commands.items():
        every = [flag for action in _options(parser) for flag in action.option_strings]
        flags.append(f"    {name}) words={shlex.quote(' '.join(every))} ;;")
        for action in _options(parser):
            if action.choices:
                when = "|".join(f'"{name} {flag}"' for flag in action.option_strings)
                choices.append(f"    {when}) words={shlex.quote(' '.join(map(str, action.choices)))} ;;")
    made = BASH.format(commands=shlex.quote(" ".join(commands)), choices="\n".join(choices), flags="\n".join(flags))
    return f"autoload -U +X bashcompinit && bashcompinit\n{made}" if zsh else made


def _fish(commands: dict[str, argparse.ArgumentParser]) -> str:
    lines = [f"complete -c attention-playground -n __fish_use_subcommand -a {shlex.quote(' '.join(commands))}"]
    for name, parser in commands.items():
        for action in _options(parser):
            long = next((flag[2:] for flag in action.option_strings if flag.startswith("--")), None)
            words = f" -xa {shlex.quote(' '.join(map(str, action.choices)))}" if action.choices else ""
            if long:
                when = shlex.quote(f"__fish_seen_subcommand_from {name}")
                lines.append(f"complete -c attention-playground -n {when} -l {long}{words}")
    return "\n".join(lines) + "\n"
