import Sandbox
import Testing

/// Which words of a command line name the script that an interpreter runs.
@Suite struct `The script of an interpreter` {
  @Test(arguments: [
    "sh /usr/s.sh a b", "dash -eu /usr/s.sh", "bash --norc -x /usr/s.sh -c x", "bash -eo pipefail /usr/s.sh",
    "bash +o posix --rcfile /etc/rc /usr/s.sh", "sh -- /usr/s.sh", "sh - /usr/s.sh", "zsh -f /usr/s.sh",
    "/usr/bin/python3.11 /usr/s.sh", "python3 -Iu /usr/s.sh -c x", "python -W ignore -Xdev /usr/s.sh",
    "python3 -- /usr/s.sh", "perl -w -I /usr/lib /usr/s.sh", "perl -I/usr/lib -Mstrict /usr/s.sh",
    "ruby -w -r json /usr/s.sh",
    "node /usr/s.sh --eval", "node -r x --no-warnings /usr/s.sh", "lua5.4 -l x /usr/s.sh", "php /usr/s.sh",
    "php8.2 -n -d a=b -f /usr/s.sh", "php -f/usr/s.sh", "tclsh8.6 /usr/s.sh",
  ])
  func `is the file that these name`(line: String) {
    #expect(script(line) == "/usr/s.sh")
  }

  @Test(arguments: [
    // Commands, modules and standard input.
    "sh -c /usr/s.sh", "sh -ec /usr/s.sh", "bash -xc true /usr/s.sh", "bash -s /usr/s.sh", "sh", "sh -e",
    "python3 -m x /usr/s.sh",
    "python3 -c x /usr/s.sh", "python3 -Ic x /usr/s.sh", "python3 - /usr/s.sh", "perl -e 1 /usr/s.sh",
    "perl -ne 1 /usr/s.sh",
    "perl -E 1 /usr/s.sh", "ruby -e 1 /usr/s.sh", "node -e 1 /usr/s.sh", "node --eval 1 /usr/s.sh",
    "node -p 1 /usr/s.sh",
    "lua -e 1 /usr/s.sh", "lua - /usr/s.sh", "php -r 1 /usr/s.sh", "node - /usr/s.sh",
    // Options that are not known, or lack their value.
    "bash --unknown /usr/s.sh", "node --inspect-brk /usr/s.sh", "python3 --weird /usr/s.sh", "bash -o",
    "python3 -Z /usr/s.sh",
    // In the container, or other folders inside.
    "sh s.sh", "sh ./s.sh", "sh /home/user/s.sh", "sh /tmp/s.sh", "sh /documents/x/s.sh", "sh /usr/../tmp/s.sh",
    "sh /dev/stdin",
    "sh /proc/self/fd/0", "sh /run/s.sh",
    // Interpreters of somebody else's.
    "/home/me/bin/sh /usr/s.sh", "/opt/python3 /usr/s.sh", "/usrlocal/sh /usr/s.sh",
    // No interpreter.
    "env python3 /usr/s.sh", "cat /usr/s.sh", "mysh /usr/s.sh", "/usr/s.sh",
  ])
  func `is none for these, which have the interpreter's identity`(line: String) {
    #expect(script(line) == nil)
  }

  private func script(_ line: String) -> String? {
    let words = line.split(separator: " ").map(String.init)
    let program = words[0].hasPrefix("/") ? words[0] : "/usr/bin/\(words[0])"
    return ScriptRule.script(program: program, arguments: Array(words.dropFirst()))
  }
}
