"""Chat templates: what they may, and hostile ones."""

import time
from typing import Any

import pytest

from gluonish.core.errors import ArgumentError, ArgumentTypeError, FileFormatError
from gluonish.model_zoo.text import chat_template
from gluonish.model_zoo.text.chat_template import ChatTemplate

pytest.importorskip("jinja2", reason="needs the extra text")
GROWING = "{%% set ns = namespace(x=%s) %%}{%% for i in range(90) %%}%s{%% endfor %%}{{ ns.x }}"


def render(source: str, **variables: Any) -> str:
    return ChatTemplate(source, "file").render(variables)


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("{% for m in messages %}\n{{ m.role }}={{ m['content'] | trim }}\n{% endfor %}", "a=b"),
        ("{{ messages[-1:] | length }}{{ messages[::-1] | map(attribute='role') | join }}", "1a"),
        ("{% for k, v in d.items() %}{{ k }}{{ v }}{% endfor %}", "x1y[2]"),
        ("{{ d | tojson }}", '{"x": 1, "y": [2]}'),
        ("{{ '\u00e9<' | tojson(indent=None) }}", '"\u00e9<"'),
        ("{% for i in [1, 2] %}{% if i == 1 %}{% continue %}{% endif %}{{ i }}{% endfor %}", "2"),
        ("{% generation %}{{ 2 * 3 }}{% endgeneration %}", "6"),
        ("{% macro f(x) -%}<{{ x }}>{%- endmacro %}{{ f(1) ~ f('a') }}", "<1><a>"),
        ("{% set ns = namespace(n=0) %}{% for i in 'abc' %}{% set ns.n = ns.n + 1 %}{% endfor %}"
         "{{ ns.n }}", "3"),
        ("{{ 'a' if none_given is not defined else 'b' }}{{ none_given }}", "a"),
        ("{{ 'a,b'.split(',')[1].upper() }}{{ 'x{}'.format(5) }}{{ '%s!' % 'y' }}", "Bx5y!"),
        ("{{ messages | selectattr('role', 'equalto', 'a') | list | count }}{{ -7 // 2 }}",
         "1-4"),
        ("{{ 'role' in messages[0] and messages[0].get('x') is none }}", "True"),
    ],
)  # fmt: skip
def test_what_templates_do(source: str, text: str) -> None:
    variables = {"messages": [{"role": "a", "content": " b "}], "d": {"x": 1, "y": [2]}}
    assert render(source, **variables).strip() == text


def test_the_date_is_todays() -> None:
    before = time.strftime("%d %b %Y")
    assert render("{{ strftime_now('%d %b %Y') }}") in (before, time.strftime("%d %b %Y"))


def test_long_conversations_are_rendered() -> None:
    messages = [{"role": "user", "content": "word " * 20_000}] * 30 + [{"content": "x"}] * 3000
    source = "{% for m in messages %}{{ '<' + m.content | trim ~ '>' }}{% endfor %}"
    assert render(source, messages=messages).count("<") == 3030


def test_a_template_refuses_messages() -> None:
    with pytest.raises(ArgumentError, match=r"^apply_chat_template: roles must alternate$"):
        render("{{ raise_exception('roles must alternate') }}")


HOSTILE = {
    "attributes": "{{ ''.__class__ }}",
    "attributes of functions": "{{ range.__globals__ }}",
    "attributes by index": "{{ messages['__class__'].__mro__[1] }}",
    "attributes by filter": "{{ '' | attr('__class__') }}",
    "attributes by map": "{{ [''] | map(attribute='__class__') | list }}",
    "attributes by format": "{{ '{0.__class__.__mro__}'.format(1) }}",
    "the environment": "{{ self._TemplateReference__context }}",
    "globals": "{{ namespace.__init__.__globals__ }}",
    "a change of messages": "{{ messages.append(1) }}",
    "files": "{% include '/etc/passwd' %}",
    "more files": "{% import 'os' as os %}",
    "loops": "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}",
    "a long range": "{% for i in range(10 ** 9) %}{% endfor %}",
    "recursion": "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
    "exponential recursion": "{% macro f(n) %}{% if n %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}"
    "{% endmacro %}{{ f(50) }}",
    "recursive loops": "{% for x in [1] recursive %}{{ loop([1]) }}{{ loop([1]) }}{% endfor %}",
    "a long text": "{{ 'a' * 10 ** 9 }}",
    "a long list": "{{ [1] * 10 ** 9 }}",
    "a long number": "{{ 10 ** 10 ** 10 }}",
    "a wide field": "{{ '{:>999999999}'.format(1) }}",
    "a wide field by %": "{{ '%999999999d' % 1 }}",
    "a width of its own": "{{ '%*d' % (999999999, 1) }}",
    "a justified text": "{{ 'a'.ljust(999999999) }}",
    "a centered text": "{{ 'a' | center(999999999) }}",
    "an indented text": "{{ 'a\nb' | indent(999999999) }}",
    "a date": "{{ strftime_now('%999999999d') }}",
    "growth by ~": GROWING % ("'a'", "{% set ns.x = ns.x ~ ns.x %}"),
    "growth by +": GROWING % ("[1]", "{% set ns.x = ns.x + ns.x %}"),
    "growth by *": GROWING % ("9", "{% set ns.x = ns.x * ns.x %}"),
    "growth by lists": GROWING % ("[1]", "{% set ns.x = [ns.x, ns.x] %}"),
    "growth by dicts": GROWING % ("1", "{% set ns.x = {'a': ns.x, 'b': ns.x} %}"),
    "growth by dict()": GROWING % ("1", "{% set ns.x = dict(a=ns.x, b=ns.x) %}"),
    "growth by blocks": GROWING % ("'a'", "{% set ns.x %}{{ ns.x }}{{ ns.x }}{% endset %}"),
    "growth by join": GROWING % ("'a'", "{% set ns.x = [ns.x, ns.x] | join %}"),
    "growth by a method": GROWING % ("'a'", "{% set ns.x = ns.x.join(['b', 'c', 'd']) %}"),
    "growth by replace": GROWING % ("'a'", "{% set ns.x = ns.x | replace('a', 'aa') %}"),
    "growth by str.replace": GROWING % ("'a'", "{% set ns.x = ns.x.replace('a', 'aa') %}"),
    "growth by format": GROWING % ("'a'", "{% set ns.x = '{0}{0}'.format(ns.x) %}"),
    "growth by %": GROWING % ("'a'", "{% set ns.x = '%s%s' % (ns.x, ns.x) %}"),
    "comparisons": "{% set s = 'x' * 900000 %}{% set t = 'x' * 900000 %}"
    "{% for i in range(99999) %}{{ s == t }}{% endfor %}",
    "work of methods": "{% set s = 'x' * 900000 %}"
    "{% for i in range(99999) %}{{ s.count('y') }}{% endfor %}",
    "depth": "{{ " + "(" * 5000 + "1" + ")" * 5000 + " }}",
    "no template": "{% if %}",
    "an open tag": "{% for x in y %}",
    "an unknown filter": "{{ 1 | urlize }}",
    "a division by zero": "{{ 1 // 0 }}",
}


@pytest.mark.parametrize("what", HOSTILE)
def test_a_hostile_template_is_refused(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat_template, "_WORK", 10_000)
    monkeypatch.setattr(chat_template, "_LEAST_SIZE", 1 << 20)
    began = time.monotonic()
    with pytest.raises(FileFormatError, match=r"^file: expected a chat template that"):
        render(HOSTILE[what], messages=[{"role": "user"}])
    assert time.monotonic() - began < 10


def test_messages_are_data() -> None:
    with pytest.raises(ArgumentTypeError, match=r"of text, numbers, lists and dicts, got <object"):
        render("", messages=[{"content": object()}])
    deep: Any = []
    for _ in range(100):
        deep = [deep]
    with pytest.raises(ArgumentError, match="of up to 50 nested lists and dicts"):
        render("", messages=deep)
