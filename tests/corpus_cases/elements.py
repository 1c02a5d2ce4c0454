"""Arguments as a tree of elements."""

from __future__ import annotations

from ..support import INTEGER, STRING, tool
from .case import CALL_PLAY, ODE, STOP, TOOLS, Call, Case, case, cut, play, prose

#: A tool whose arguments have parts: what these are, only its schema tells.
TRACK = {"type": "object", "properties": {"title": STRING, "seconds": INTEGER}}
ALBUM = tool(
    "album",
    title=STRING,
    year=INTEGER,
    artist={"type": "object", "properties": {"name": STRING, "born": INTEGER}},
    tracks={"type": "array", "items": TRACK},
    genres={"type": "array", "items": STRING},
    label={"type": ["string", "null"]},
)


def m3(name: str, elements: str, *calls: Call, content: str | None = None) -> Case:
    """A call to `album` in MiniMax M3's elements; ~ is its marker."""
    text = f'~<tool_call>\n~<invoke name="album">{elements}~</invoke>\n~</tool_call>'
    return m3_text(name, text, *calls, content=content)


def m3_text(name: str, text: str, *calls: Call, content: str | None = None) -> Case:
    written = text.replace("~", "]<]minimax[>[")
    return case("minimax_m3", name, written, *calls, content=content, tools=[*TOOLS, ALBUM])


def album(arguments: str) -> Call:
    return ("album", arguments.replace("~", "]<]minimax[>["), True)


def cofl(name: str, values: str, *calls: Call) -> Case:
    """A call to `album` in Command 5's elements."""
    text = f'<cofl:tool_call id="0" name="album">{values}</cofl:tool_call>'
    text = f"<cofl:tool_calls>{text}</cofl:tool_calls>"
    return case("cohere_command5", name, text, *calls, tools=[*TOOLS, ALBUM])


TREES = [
    m3_text("plain",
            'Sure.\n~<tool_call>\n~<invoke name="play">~<song>Ode~</song>~<volume>7~</volume>'
            '~</invoke>\n~<invoke name="stop">~</invoke>\n~</tool_call>',
            play(ODE), STOP, content="Sure."),
    m3("parts of parts",
       "~<artist>~<name>Åse~</name>~<born>1970~</born>~</artist>~<tracks>~<item>~<title>One~</title>"
       "~<seconds>90~</seconds>~</item>~<item>~<title>2~</title>~</item>~</tracks>"
       "~<genres>~<item>a~</item>~<item>7~</item>~</genres>~<label>null~</label>",
       album('{"artist": {"name": "Åse", "born": 1970}, "tracks": [{"title": "One", "seconds": 90}, '
             '{"title": "2"}], "genres": ["a", "7"], "label": null}')),
    m3("on lines of their own",
       "\n  ~<artist>\n    ~<name> A\n~</name>\n  ~</artist>\n",
       album('{"artist": {"name": " A\\n"}}')),
    m3("empty elements",
       "~<tracks>~</tracks>~<artist>\n~</artist>~<label>~</label>~<title>~</title>~<other>~</other>",
       album('{"tracks": [], "artist": {}, "label": "", "title": "", "other": ""}')),
    m3("JSON where elements could be",
       '~<artist>{"name": "B"}~</artist>~<genres> ["x", "y"] ~</genres>~<tracks>no list~</tracks>',
       album('{"artist": {"name": "B"}, "genres": ["x", "y"], "tracks": "no list"}')),
    m3("an element that comes again",
       "~<genres>a~</genres>~<genres>b~</genres>~<year>1~</year>~<genres>c~</genres>",
       album('{"genres": ["a", "b"], "year": 1, "genres": "c"}')),
    m3("objects that come again",
       "~<tracks>~<title>A~</title>~</tracks>~<tracks>~<title>B~</title>~</tracks>",
       album('{"tracks": [{"title": "A"}, {"title": "B"}]}')),
    m3("items of another name", "~<genres>~<genre>a~</genre>~<genre>b~</genre>~</genres>",
       album('{"genres": ["a", "b"]}')),
    m3("what nobody declared",
       "~<x>~<y>1~</y>~<z>~<item>true~</item>~</z>~</x>~<year>soon~</year>",
       album('{"x": {"y": "1", "z": ["true"]}, "year": "soon"}')),
    m3("text beside elements", "~<artist>the ~<name>A~</name> late~</artist>",
       album('{"artist": {"$text": "the ", "name": "A", "$text": " late"}}')),
    m3("closers without the marker",
       "~<title>A</title>~<artist>~<name>B</name>~<born>5</born></artist>~<year>6</year>",
       album('{"title": "A", "artist": {"name": "B", "born": 5}, "year": 6}')),
    m3("a closer without the marker that is text",
       "~<title>see </title> and </title>~</title>~<label></label>~</label>",
       album('{"title": "see </title> and </title>", "label": "</label>"}')),
    m3("closers that are text", "~<title>a~</title> b~</invoke> c ~</tool_call> d~</title>",
       album('{"title": "a~</title> b~</invoke> c ~</tool_call> d"}')),
    m3("closers that are too many", "~<title>a~</title>~</title>\n~</x>~<year>1~</year>",
       album('{"title": "a", "year": 1}')),
    m3("a closer that is missing", "~<title>a\n~<year>1~</year>",
       album('{"title": "a", "year": 1}')),
    m3("closers of parts that are missing", "~<artist>~<name>a~</name>~<born>5~</born>",
       album('{"artist": {"name": "a", "born": 5}}')),
    m3_text("quotes and markers that drift",
            "<tool_call>\n~<invoke name='stop'>~</invoke>\n~<invoke name=album>~<year>1</year>"
            "~</invoke>\n</tool_call>\nDone.",
            STOP, album('{"year": 1}'), content="Done."),
    m3_text("no closer but those of elements", "~<tool_call>~<invoke name=\"album\">~<year>1~</year>\n",
            album('{"year": 1}')),
    m3_text("cut in a string", '~<tool_call>~<invoke name="album">~<artist>~<name>Ås',
            cut("album", '{"artist": {"name": "Ås')),
    m3_text("cut behind a part", '~<tool_call>~<invoke name="album">~<artist>~<born>12~</born>',
            cut("album", '{"artist": {"born": 12')),
    m3_text("no wrapper", 'So:\n~<invoke name="stop">~</invoke>', STOP, content="So:"),
    m3_text("JSON for the elements",
            '~<tool_call>~<invoke name="album">{"year": 1}~</invoke>~</tool_call>',
            album('{"year": 1}')),
    m3_text("JSON for the call", f"~<tool_call>\n{CALL_PLAY}\n~</tool_call>", play(ODE)),
    prose("minimax_m3", "words about tags",
          'Write <tool_call> and ]<]minimax[>[<invoke name="x"> there.'),
    cofl("plain",
         '<cofl:value name="title" type="raw">A <b> & "c" &amp;</cofl:value>'
         '<cofl:value name="year" type="json">7</cofl:value>',
         album('{"title": "A <b> & \\"c\\" &amp;", "year": 7}')),
    cofl("lists and objects",
         '<cofl:value name="l" type="list"><cofl:value type="raw">1</cofl:value><cofl:value type="json">'
         '1</cofl:value><cofl:value type="list"></cofl:value></cofl:value><cofl:value name="o" '
         'type="dict"><cofl:value name="a b" type="json">null</cofl:value><cofl:value name="d" '
         'type="dict"></cofl:value></cofl:value>',
         album('{"l": ["1", 1, []], "o": {"a b": null, "d": {}}}')),
    cofl("any JSON",
         "<cofl:value type='json' name='j'> {\"a\": \"</cofl:value>\", \"b\": 1.50} </cofl:value>",
         album('{"j": {"a": "</cofl:value>", "b": 1.50}}')),
    cofl("JSON where elements could be", '<cofl:value name="l" type="list">[1]</cofl:value>',
         album('{"l": [1]}')),
    cofl("no type: the schema's",
         '<cofl:value name="year">7</cofl:value><cofl:value name="title">7</cofl:value>',
         album('{"year": 7, "title": "7"}')),
    cofl("its closer in a string", '<cofl:value name="title" type="raw">a</cofl:value> b</cofl:value>',
         album('{"title": "a</cofl:value> b"}')),
    case("cohere_command5", "cut in a part of a part",
         '<cofl:tool_calls><cofl:tool_call id="0" name="note"><cofl:value name="l" type="list">'
         '<cofl:value type="json">tr',
         cut("note", '{"l": [tr')),
]  # fmt: skip
