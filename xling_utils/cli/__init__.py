"""The command ``xling``: reads what was typed, calls the room that does it, prints what comes back."""
