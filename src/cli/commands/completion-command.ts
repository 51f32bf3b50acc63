import { type Command, Argument } from 'commander';
import { printResult } from '../operate.js';

/** A command, or the program itself, with the words that may follow it. */
interface Completion {
  /** The names of the command, from the program on, each after a space: " user list". */
  readonly path: string;
  readonly words: readonly string[];
}

const shells = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof shells)[number];

/** Adds the command that prints a script with which a shell completes commands and options. */
export function addCompletionCommand(program: Command): void {
  program
    .command('completion')
    .description(
      'print a script with which a shell completes commands and options: source <(stowage completion bash)',
    )
    .addArgument(new Argument('<shell>', 'the shell').choices(shells))
    .action((shell: Shell) => {
      const script = completionScript(shell, entriesOf(program));
      printResult({ shell, script }, () => script.trimEnd());
    });
}

function entriesOf(program: Command): readonly Completion[] {
  const global = program.options.flatMap(({ long }) => long ?? []);
  return visit(program, '');

  function visit(command: Command, path: string): readonly Completion[] {
    const options = command.options.flatMap(({ long }) => long ?? []);
    const names = command.commands.map((child) => child.name());
    const words = [...new Set([...names, ...options, ...global, '--help'])];
    return [{ path, words }, ...command.commands.flatMap((child) => visit(child, `${path} ${child.name()}`))];
  }
}

/** Returns the script. Names of commands and options hold no character that a shell reads in a special way. */
function completionScript(shell: Shell, entries: readonly Completion[]): string {
  const paths = entries.flatMap(({ path }) => (path === '' ? [] : [`"${path}"`])).join(' | ');
  const words = entries.map(({ path, words }) => `    "${path}") words="${words.join(' ')}" ;;`).join('\n');
  if (shell === 'fish') return fishScript(entries);
  const choose = (taken: string): string =>
    `  for word in ${taken}; do
    case "$at $word" in ${paths}) at="$at $word" ;; esac
  done
  case "$at" in
${words}
  esac`;
  if (shell === 'bash') {
    return `_stowage() {
  local at= word words=
${choose('"${COMP_WORDS[@]:1:COMP_CWORD-1}"')}
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _stowage stowage
`;
  }
  return `#compdef stowage
_stowage() {
  local at= word words_of=
${choose('"${(@)words[2,CURRENT-1]}"').replaceAll(' words="', ' words_of="')}
  compadd -- \${=words_of}
  # No command with commands below it takes a file.
  [[ $words_of == [a-z]* ]] || _files
}
compdef _stowage stowage
`;
}

function fishScript(entries: readonly Completion[]): string {
  const cases = entries.map(
    ({ path, words }) => `    case "${path}"\n      string split " " -- "${words.join(' ')}"`,
  );
  const paths = entries.flatMap(({ path }) => (path === '' ? [] : [`"${path}"`])).join(' ');
  return `function __stowage_words
  set -l at ""
  for word in (commandline -opc)[2..-1]
    contains -- "$at $word" ${paths}; and set at "$at $word"
  end
  switch "$at"
${cases.join('\n')}
  end
end
# No command with commands below it takes a file.
complete -c stowage -f -n "__stowage_words | string match -qv -- '-*'"
complete -c stowage -a "(__stowage_words)"
`;
}
