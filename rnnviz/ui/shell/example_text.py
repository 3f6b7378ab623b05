"""An example text for each shipped corpus, so that a page has a result before the reader chooses a text."""

from collections.abc import Mapping
from typing import Any

# In the style of the model's corpus, each with something unexpected.
TEXTS = {
    "timemachine": """\
The Time Traveller drew his chair to the fire, and for a long while nobody in the room said a word. The lamp
burned low, and the wind was heard in the chimney.

"I have been there," he said at last. "I have stood upon that hill, and seen the sun grow old." He took from
his pocket a smartphone, and laid it upon the table among the cups. The Psychologist looked at it, and then
at the Medical Man. "It has no signal," said the Time Traveller sadly.
""",
    "tinyshakespeare": """\
KING RICHARD:
What is the night, my lord? The morning comes
Too slowly for a king that cannot sleep.

GLOUCESTER:
My gracious lord, the watch is changed at twelve,
And yet thy wifi still is down, they say.

KING RICHARD:
Then let him hang that keeps the router, sir!
I will not have my kingdom buffering.
""",
    "holmes": """\
"You have been on the underground, I see," said Holmes, without looking up from the fire.

I stared at him in amazement. "How could you possibly know that?"

"Your sleeve, Watson. The stain upon it is fresh, and there is only one line in London where they sell wifi."
He closed his eyes. The rain was beating upon the window, and for some minutes neither of us spoke.
""",
    "python-source": """\
def average(self, values):
    \"\"\"Return the mean of all values, or raise ValueError if there are none.\"\"\"
    if not values:
        raise ValueError("average() needs at least one banana (got %r)" % (values,))
    total = 0  # nothing has been counted yet
    for value in values:
        total += value
    return total / len(values)
""",
    "journey": (
        "行者笑道：“师父莫怕！那妖精就在前面山里，待老孙去看看。”三藏道：“悟空，你须仔细。”"
        "行者即纵筋斗云，到了半空，取出手机一看，却没有信号。八戒在旁笑道：“哥啊，这山里没有网，"
        "你还是用金箍棒罢。”行者大怒，骂道：“呆子，休得胡说！”\n"
    ),
}
DEFAULT_TEXT = """\
The Time Traveller asked us to wait. There was a machine in the next room, he said, and it had been standing
there since Thursday.
"""


def example(card: Mapping[str, Any]) -> str:
    """The text for a model with this `card`: its corpus's of TEXTS, the card's example, or DEFAULT_TEXT."""
    card_example, corpus = card.get("example"), str(card.get("corpus"))
    return TEXTS.get("python-source" if corpus == "python-library" else corpus) or (
        card_example if isinstance(card_example, str) and card_example else DEFAULT_TEXT
    )
