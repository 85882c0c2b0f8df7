"""A stranger's attacker run again: does it give the submitted scores, and keep the pair rule?"""
