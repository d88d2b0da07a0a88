#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The functions and objects that the public headers declare.

Usage: public_names.py INCLUDE_DIRECTORY           prints the names, one per line
       public_names.py --map INCLUDE_DIRECTORY     prints a version script that exports them and nothing else
"""
import pathlib
import re
import sys

COMMENT = re.compile(r'/\*.*?\*/|//[^\n]*', re.S)
DIRECTIVE = re.compile(r'^[ \t]*#(?:[^\n]*\\\n)*[^\n]*$', re.M)
STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
OPAQUE = ('typedef', 'static', 'struct', 'union', 'enum', '_Static_assert')


def statements(text):
    """Top-level declarations, without the bodies of braces."""
    depth, current = 0, ''
    for character in text:
        if character == '{':
            depth += 1
            current += ' {} ' if depth == 1 else ''
        elif character == '}':
            depth -= 1
            if depth == 0 and is_function(current):
                yield current
                current = ''
        elif depth == 0:
            if character == ';':
                yield current
                current = ''
            else:
                current += character


def is_function(text):
    return '(' in text and not text.split()[0] == 'typedef'


def declared(text):
    """The names in one header."""
    text = DIRECTIVE.sub('', COMMENT.sub(' ', text))
    # extern "C" opens a brace between directives; its end is left over.
    text = re.sub(r'extern\s+"C"\s*\{', ' ', text)
    text = STRING.sub('""', text)
    opened = 0
    balanced = ''
    for character in text:
        opened += (character == '{') - (character == '}')
        if opened < 0:
            opened = 0
            continue
        balanced += character
    for statement in statements(balanced):
        words = statement.split()
        if not words:
            continue
        if words[0] == 'extern':
            name = re.search(r'(\w+)\s*(?:\[[^\]]*\]\s*)?$', statement)
        elif words[0] in OPAQUE and not (words[0] in ('struct', 'union', 'enum') and '(' in statement):
            continue
        else:
            name = re.search(r'(\w+)\s*\(', statement)
        if name:
            yield name.group(1)


def names(include):
    """Name to header."""
    found = {}
    for header in sorted(pathlib.Path(include).rglob('*.h')):
        for name in declared(header.read_text()):
            found.setdefault(name, str(header))
    return found


def main():
    arguments = sys.argv[1:]
    as_map = arguments[:1] == ['--map']
    found = sorted(names(arguments[-1]))
    if as_map:
        print('/* Versioned symbols of libtendon.so: what the public headers declare, nothing else. Generated. */')
        print('TENDON_1 {\n    global:')
        print('\n'.join(f'        {name};' for name in found))
        print('    local:\n        *;\n};')
    else:
        print('\n'.join(found))


if __name__ == '__main__':
    main()
