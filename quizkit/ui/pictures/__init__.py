"""Pictures of what a run counted or clocked."""
