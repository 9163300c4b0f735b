"""What all folders share: facts about nodes and layouts, settings, the log, failures."""
