"""What faults.py and kill_and_resume.py share: runs of the tool that something is done to, and the judgement after."""
