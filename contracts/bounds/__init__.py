"""What a value could be: bounds under missing judgments and over tied orders."""
