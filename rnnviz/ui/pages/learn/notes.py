"""The lecturer's notes: what each step is called, and what to say and to ask there; by its name."""

from dataclasses import dataclass
from typing import Any

from rnnviz.i18n import N_, _
from rnnviz.ui.pages.learn import scenes
from rnnviz.ui.pages.learn.question_words import WORDS


@dataclass(frozen=True)
class Note:
    """A step's title, what to say, and what to ask."""

    title: str
    say: str
    ask: str


_NOTES: dict[str, dict[str, Note]] = {
    "scene_1_counts": {
        "grows": Note(
            N_("A table of all n-grams"),
            N_("An n-gram model needs a number for any n characters: |V| to the power of n."),
            N_("How large is the table for five characters? And for ten?"),
        ),
        "book": Note(
            N_("What a book fills of it"),
            N_("Most entries are never seen. What was not counted, the table cannot predict."),
            N_("Which share of new contexts do you expect at n = 6?"),
        ),
        "surprise": Note(
            N_("Reading with counts"),
            N_("Deep cells are surprises. Framed cells have a context that the book does not have."),
            N_("Where would you have been surprised, too?"),
        ),
        "state": Note(
            N_("One h for the whole past"),
            N_("The state is computed from the state before and the new character, by any f."),
            N_("What must h keep so that nothing is lost?"),
        ),
        "any": Note(
            N_("What a state can tell apart"),
            N_("Storing everything is exact, and no one can pay for it. A network always stores the same."),
            N_("After which character can the last-character rule no longer tell the texts apart?"),
        ),
        "memory": Note(
            N_("Networks with a state"),
            N_("An RNN carries a state; a GRU does so with gates. Compare the bits on new text."),
            N_("Does a longer n help the table any further?"),
        ),
    },
    "scene_2_memoryless": {
        "prediction": Note(
            N_("Same ending, same prediction"),
            N_("Without a state the network sees the last character only."),
            N_("Name two texts that end alike. What will the network say?"),
        ),
        "layer": Note(
            N_("The hidden layer is the same"),
            N_("The hidden layer stands between input and output; it is no memory."),
            N_("What would have to change for the two texts to differ?"),
        ),
        "hidden": Note(
            N_("A minibatch, number by number"),
            N_("Each row is one pair. The bias is one row and is added to every row: broadcasting."),
            N_("Which shapes do X, W and H have?"),
        ),
        "output": Note(
            N_("From the layer to probabilities"),
            N_("Another product gives a score for each symbol, softmax makes probabilities of them."),
            N_("Which row pays most? Read it from the framed cells."),
        ),
        "state": Note(
            N_("With a state they differ"),
            N_("The same ending, two predictions: the past arrives through the state."),
            N_("Change the first letter. Does the prediction still notice?"),
        ),
        "gates": Note(
            N_("Gates"),
            N_("GRU and LSTM have gates that say how much of the state stays. They come back in scene 7."),
            N_("Your own two texts: which network tells them apart best?"),
        ),
    },
    "scene_3_recurrence": {
        "first": Note(
            N_("The first step"),
            N_("The state is empty, so the step is that of a network without one."),
            N_("Which row of W_xh does the m pick?"),
        ),
        "second": Note(
            N_("One term more"),
            N_("The state of step 1, times W_hh, is added. That is all that is new."),
            N_("What would remain if W_hh were zero?"),
        ),
        "third": Note(
            N_("The same definition again"),
            N_("Recurrent means: the definition uses its own result, with the same weights."),
            N_("Which numbers on the stage are new at this step?"),
        ),
        "parameters": Note(
            N_("Parameters do not grow"),
            N_("Count the weights once: they serve any number of steps."),
            N_("How many would a network have with weights of its own for every step?"),
        ),
        "apart": Note(
            N_("Hidden layer and hidden state"),
            N_("The layer is hidden from view; the state is an input of the step."),
            N_("Which of the two does the network without recurrence have?"),
        ),
        "adjacent": Note(
            N_("Three steps side by side"),
            N_("Each step: concatenate input and state, then one fully connected layer."),
            N_("Where does the state of a step go to? Name both places."),
        ),
        "minibatch": Note(
            N_("Two sequences at once"),
            N_("Rows share the weights and never see each other's states."),
            N_("What would go wrong if the rows were swapped between two steps?"),
        ),
        "unit": Note(
            N_("One unit of a real network"),
            N_("Input, state and bias add up, tanh bends the sum. Click another unit."),
            N_("Which part is largest here?"),
        ),
    },
    "scene_4_product": {
        "two": Note(
            N_("Two products"),
            N_("Read the shapes aloud, then one entry: row times column, twice."),
            N_("Which entries of which matrices make the one at the top left?"),
        ),
        "joined": Note(
            N_("Put together"),
            N_("Side by side along axis 1, one above the other along axis 0. No number changes."),
            N_("Why do the inner sizes fit?"),
        ),
        "one": Note(
            N_("One product"),
            N_("The same entry again, from one row and one column."),
            N_("Is one large product faster than two small ones? How would you find out?"),
        ),
        "try": Note(
            N_("Change a number"),
            N_("Both sides follow. What is left between them is rounding."),
            N_("Which entries change if you change one of W_xh?"),
        ),
        "word": Note(
            N_("The word's own step"),
            N_("The same identity with the word's own network; bias and tanh make the next state of it."),
            N_("Which part of the product does a one-hot input pick?"),
        ),
    },
    "scene_5_word": {
        "labels": Note(
            N_("Labels are inputs, shifted"),
            N_("The network reads machin and should say achine."),
            N_("What is the label of the third step?"),
        ),
        "softmax": Note(
            N_("A loss at every step"),
            N_("A column is a distribution; the framed cell is the label's, its −log is the loss."),
            N_("Which step is surprised most?"),
        ),
        "path": Note(
            N_("What output 3 rests on"),
            N_("Output 3 depends on m, a and c; its loss on the label h too."),
            N_("Before I change this letter: will output 3 change?"),
        ),
        "why": Note(
            N_("Why characters"),
            N_("Few symbols, and every word can be written, at the price of more time steps."),
            N_("Where would words be the better choice?"),
        ),
        "batch": Note(
            N_("Several places at once"),
            N_("A row for each place; X_t is n × d and the weights stay the same."),
            N_("Which part of the picture depends on n?"),
        ),
        "train": Note(
            N_("Training it"),
            N_("Press Train. Watch the framed cells and the perplexity."),
            N_("Where will the perplexity end? And where does it begin?"),
        ),
        "writes": Note(
            N_("It writes"),
            N_("Fed with its own output it writes the word. It knows this word and nothing else."),
            N_("What happens after one wrong letter?"),
        ),
    },
    "scene_6_perplexity": {
        "game": Note(
            N_("Perplexity as a game"),
            N_("Perplexity is the geometric mean of 1/P. Best case 1, worst case infinite, uniform |V|."),
            N_("I drag one bar to zero. What happens to the perplexity?"),
        ),
        "rain": Note(
            N_("It is raining"),
            N_("Three endings, three models: sense, spelling, nothing. Let someone type an ending."),
            N_("Which of the three costs least? Which letter costs most?"),
        ),
        "books": Note(
            N_("Two books"),
            N_("The shorter text is the likelier one, even where it is read badly. A mean is missing."),
            N_("Which book is likelier, before we compute it?"),
        ),
        "length": Note(
            N_("Texts of any length"),
            N_("The likelihood can only fall, the perplexity is a mean. Cut both texts."),
            N_("Can nonsense be likelier than sense? Cut until it is."),
        ),
        "bits": Note(
            N_("Bits and compression"),
            N_("A better model needs fewer bits. A uniform guess stores without compression."),
            N_("How many bits does a character cost at perplexity 2?"),
        ),
        "heart": Note(
            N_("Learned by heart"),
            N_("Play. Training perplexity goes to 1 while the held-out one climbs. Then vote."),
            N_("Which number goes into the paper?"),
        ),
        "shannon": Note(
            N_("Shannon's game"),
            N_("Guess until it is right. Bounds appear after twenty letters."),
            N_("What is the next letter?"),
        ),
    },
    "scene_7_backwards": {
        "word": Note(
            N_("Back through the word"),
            N_("Go back one step at a time: what the loss asks, what the next step hands back, their sum."),
            N_("What does the last step hear of? And without a state?"),
        ),
        "flow": Note(
            N_("Gradients in real networks"),
            N_("Compare the slopes of RNN, GRU and LSTM, near the end and far from it."),
            N_("After how many characters is nothing left of the RNN's gradient?"),
        ),
        "dial": Note(
            N_("Powers of a matrix"),
            N_("Turn ρ through 1. In the long run ρ decides, on the way it may go otherwise; tanh damps."),
            N_("Does ρ above 1 always explode?"),
        ),
        "gap": Note(
            N_("A letter over a long gap"),
            N_("One letter must be kept for k steps. A gate near 1 lets state and gradient through."),
            N_("At which gap does the RNN fail? And what if the gates begin open?"),
        ),
        "linear": Note(
            N_("What if the gate may not look at the state?"),
            N_(
                "All steps at once, exact shares. "
                "But in the lowest layer a letter keeps and writes the same wherever it stands."
            ),
            N_("Could a GRU's steps be joined like this? What would be missing?"),
        ),
        "clip": Note(
            N_("Clipping"),
            N_("What is longer than θ is shortened. The direction stays."),
            N_("What does it help against: vanishing or exploding?"),
        ),
        "cut": Note(
            N_("A cut through the word"),
            N_("Values cross the cut, gradients do not. Drag it and count the terms."),
            N_("Which terms are lost, near ones or far ones?"),
        ),
        "random": Note(
            N_("Cut at random"),
            N_("Rarely far, but then weighed more: the mean is the full gradient."),
            N_("What is the price of being right on average?"),
        ),
        "cost": Note(
            N_("What it costs"),
            N_("Measure: what does the way back add in time, and in memory as T grows?"),
            N_("What does a cut save, time or memory?"),
        ),
    },
    "scene_9_summary": {
        "points": Note(
            N_("The section in five points"),
            N_("Read each point aloud. The button leads to the step that shows it."),
            N_("Which step shows this? Let them say it before you press."),
        ),
        "backwards": Note(
            N_("The way back in four points"),
            N_("Truncation is for convenience and stability; it does not cure vanishing."),
            N_("Which of the four would change with an LSTM?"),
        ),
        "further": Note(
            N_("Score and reading"),
            N_("Say the score, and which questions are homework."),
            N_("Who reads which paper?"),
        ),
    },
}


def note(module: str, name: str) -> Note | None:
    """The note of the step called `name`, not yet translated; None if it has none."""
    if module == "scene_8_questions":
        return Note(
            WORDS[name].question,
            N_("Let everybody predict, by hand or by phone. Then reveal, and try another setting."),
            N_("Who will explain the answer?"),
        )
    return _NOTES.get(module, {}).get(name)


def noted() -> set[tuple[str, str]]:
    """The steps that notes are kept for: a module and a name."""
    return {(module, name) for module, notes in _NOTES.items() for name in notes}


def said(number: int, step: int) -> dict[str, Any]:
    """What the lecturer's window shows of a step: its title and notes, and the title of the next step."""
    here, names = _at(number, step), scenes.scene(number).NAMES
    following = (number, step + 1) if step + 1 < len(names) else (number + 1, 0)
    after = _at(*following) if following[0] <= len(scenes.MODULES) else None
    return {
        "title": _(here.title) if here else "",
        "lines": [_(here.say), _(here.ask)] if here else [],
        "next": _(after.title) if after else "",
        "opens": scenes.titles()[following[0] - 1] if after and following[0] > number else "",
    }


def _at(number: int, step: int) -> Note | None:
    return note(scenes.MODULES[number - 1], scenes.scene(number).NAMES[step])
