"""What is wrong or odd with judgments and runs: every defect, none fatal to the next."""
